// SPDX-License-Identifier: Apache-2.0
// Bandwidth: keep `depth` messages under way on each queue pair, in this thread or in one for each group of them.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <sched.h>

#include "perf/stream/rdma_loops.h"
#include "perf/stream/rdma_stream_loop.h"

namespace railbed::perf {
namespace {

// The threads of a round. Each warms up, waits for the others, and counts from one start. They inherit the processors
// of this thread, and so stay on the device's NUMA node where it does. This thread looks after the peer meanwhile.
class Crew {
 public:
  Crew(RdmaLink& link, const Round& round, Watch& watch) : link_(link), round_(round), watch_(watch) {}

  Result<StreamResult> run() {
    std::vector<std::jthread> threads;
    for (size_t group = 0; group < link_.groups().size(); ++group) {
      Worker& worker = workers_.emplace_back();
      worker.last_progress = watch_.clock().now();
      try {
        threads.emplace_back([this, group, &worker] { work(group, worker); });
      } catch (const std::system_error&) {
        stop_ = true;
        threads.clear();
        return fail(no_thread_error("each group of queue pairs (--threads)"));
      }
    }
    const auto watched = watch_over();
    stop_ = true;
    threads.clear();
    if (failure_) return fail(std::move(*failure_));
    TRY(Result<void>(watched));
    return merged();
  }

 private:
  // Written by its own thread a few times a second; on cache lines of its own.
  struct alignas(128) Worker {
    std::atomic<uint64_t> last_progress{0};
    std::atomic<int64_t> messages{0};
    std::atomic<bool> ended{false};
    StreamResult result;
  };

  StreamLoop::Settings settings_of(size_t group, Worker& worker) const {
    Round own = round_;
    own.messages = round_.messages / static_cast<int64_t>(link_.lanes().size()) *
                   static_cast<int64_t>(link_.groups()[group].count);
    return {.round = own,
            .receiver = nullptr,
            .interval_ticks = watch_.interval_ticks(),
            .look = [this, &worker](uint64_t, uint64_t last_progress, int64_t messages) -> Result<void> {
              worker.last_progress.store(last_progress, std::memory_order_relaxed);
              worker.messages.store(messages, std::memory_order_relaxed);
              if (stop_) return fail(Code::kCanceled, "another thread of this test has failed");
              return {};
            }};
  }

  void work(size_t group, Worker& worker) {
    const auto done = [&]() -> Result<void> {
      StreamLoop loop(link_, group, settings_of(group, worker), watch_.clock());
      const auto warm = loop.warm_up().context("first message of {}", size_text(round_.size_bytes));
      if (!warm) return fail(warm.error());
      // The last thread sets the start for all.
      if (++warm_ == link_.groups().size()) start_ = watch_.clock().now();
      while (start_ == 0 && !stop_) sched_yield();
      if (stop_) return {};
      worker.result = TRY(loop.run(start_));
      return {};
    }();
    const std::lock_guard lock(mutex_);
    if (!done && !failure_ && !stop_) failure_ = done.error();
    if (!done) stop_ = true;
    worker.ended = true;
    changed_.notify_all();
  }

  Result<void> watch_over() {
    const auto interval = std::chrono::nanoseconds(watch_.clock().to_ns(watch_.interval_ticks()));
    std::unique_lock lock(mutex_);
    while (!failure_ && !std::ranges::all_of(workers_, [](const Worker& one) { return one.ended.load(); })) {
      changed_.wait_for(lock, interval);
      lock.unlock();
      // The thread that stands still the longest: the others' traffic does not excuse it. What it says is as old as its
      // last look.
      uint64_t oldest = UINT64_MAX;
      int64_t messages = 0;
      for (const Worker& one : workers_) {
        if (!one.ended) oldest = std::min(oldest, one.last_progress.load(std::memory_order_relaxed));
        messages += one.messages.load(std::memory_order_relaxed);
      }
      const uint64_t now = watch_.clock().now();
      TRY(watch_.tick(now, std::min(oldest, now), messages));
      lock.lock();
    }
    return {};
  }

  StreamResult merged() {
    StreamResult all = std::move(workers_.front().result);
    for (auto one = std::next(workers_.begin()); one != workers_.end(); ++one) {
      all.messages += one->result.messages;
      all.duration_ns = std::max(all.duration_ns, one->result.duration_ns);
      all.meter.merge(one->result.meter);
    }
    return all;
  }

  RdmaLink& link_;
  const Round& round_;
  Watch& watch_;
  std::deque<Worker> workers_;  // one for each group; they stay where they are
  std::atomic<size_t> warm_{0};
  std::atomic<uint64_t> start_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Error> failure_;
};

}  // namespace

Result<StreamResult> stream(RdmaLink& link, const Round& round, Receiver* receiver, Watch& watch) {
  if (link.groups().size() > 1) return Crew(link, round, watch).run();
  StreamLoop loop(link, 0,
                  {.round = round,
                   .receiver = receiver,
                   .interval_ticks = watch.interval_ticks(),
                   .look = [&watch](uint64_t now, uint64_t last_progress,
                                    int64_t messages) { return watch.tick(now, last_progress, messages); }},
                  watch.clock());
  TRY(loop.warm_up().context("first message of {}", size_text(round.size_bytes)));
  return loop.run(watch.clock().now());
}

}  // namespace railbed::perf
