// SPDX-License-Identifier: Apache-2.0
// TCP bandwidth: one thread per stream, while the calling thread runs the watch.
//
// Threads: senders and receivers share only atomics and one condition variable. Any failure shuts the streams down,
// which ends the waits of all other threads.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include <poll.h>

#include "perf/bounds.h"
#include "perf/stream/tcp_link.h"

namespace railbed::perf {
namespace {

constexpr std::chrono::milliseconds kPoll{20};
constexpr size_t kReceiveBuffer_bytes = size_t{256} << 10;

// The real clock is not read for it, as each byte of a stream may be waited for.
void wait_ready(int fd, short events, const TickClock& clock) {
  pollfd entry{.fd = fd, .events = events, .revents = 0};
  Clock& waits = clock.clock();
  if (&waits == &real_clock())
    poll(&entry, 1, static_cast<int>(kPoll.count()));
  else
    waits.poll({&entry, 1}, waits.now() + kPoll);
}

// State that the threads of one round share.
struct Shared {
  std::atomic<bool> stop{false};
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> messages{0};
  std::atomic<uint64_t> first_byte{0};  // ticks; 0: none yet
  std::mutex mutex;
  std::condition_variable_any changed;
  int running = 0;               // under mutex
  std::optional<Error> failure;  // under mutex; the first

  void finish(Result<void> result) {
    const std::lock_guard lock(mutex);
    --running;
    if (!result && !stop && !failure) failure = std::move(result.error());
    changed.notify_all();
  }
  // At the latest after `time`, or when a thread has ended. Under the mutex.
  void wait(std::unique_lock<std::mutex>& lock, const TickClock& clock, std::chrono::nanoseconds time) {
    Clock& waits = clock.clock();
    (void)waits.wait(lock, changed, waits.now() + time, {}, [this, before = running] { return running != before; });
  }
};

// At least one message, also where this thread gets its processor when the time is over already: a stream that has sent
// nothing has no figure.
Result<void> send_messages(Socket& socket, const Round& round, int64_t quota, uint64_t end, const TickClock& clock,
                           Shared& shared) {
  const std::vector<std::byte> message(static_cast<size_t>(round.size_bytes));
  for (int64_t sent = 0; !shared.stop; ++sent) {
    if (round.messages > 0 ? sent >= quota : sent > 0 && clock.now() >= end) return {};
    std::span<const std::byte> left(message);
    while (!left.empty() && !shared.stop) {
      const size_t count = TRY(socket.write_now(left));
      left = left.subspan(count);
      if (count == 0) wait_ready(socket.fd(), POLLOUT, clock);
      shared.bytes.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
    }
    if (left.empty()) shared.messages.fetch_add(1, std::memory_order_relaxed);
  }
  return {};
}

Result<void> receive_bytes(Socket& socket, const TickClock& clock, Shared& shared, ThroughputMeter& meter) {
  std::vector<std::byte> buffer(kReceiveBuffer_bytes);
  while (!shared.stop) {
    const size_t count = TRY(socket.read_now(buffer));
    if (count == 0) {
      wait_ready(socket.fd(), POLLIN, clock);
      continue;
    }
    const uint64_t now = clock.now();
    uint64_t none = 0;
    shared.first_byte.compare_exchange_strong(none, now);
    meter.add(clock.between_ns(shared.first_byte, now), count);
    shared.bytes.fetch_add(static_cast<int64_t>(count));
  }
  return {};
}

// False where this machine has no more threads for this user.
template <typename Work>
bool start_thread(std::vector<std::jthread>& threads, Work work) {
  try {
    threads.emplace_back(std::move(work));
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

Error no_thread(size_t have, size_t wanted) {
  return {.code = Code::kExhausted,
          .message = fmt::format("a thread for each of {} streams is needed, and there are only {}", wanted, have),
          .hint = "lower --qps, or raise the limits of threads (ulimit -u, pids.max of the container)"};
}

// What the peer says that it sent.
Result<int64_t> bytes_of_round(const Done& done, const Start& start) {
  if (done.sequence != start.sequence)
    return fail(Code::kInvalid, "the peer ends round {} in round {}", done.sequence, start.sequence);
  if (done.messages > kMaxTotal_bytes / start.size_bytes)
    return fail(Code::kInvalid, "the peer says that it sent {} messages of {}, more than {} bytes", done.messages,
                size_text(start.size_bytes), kMaxTotal_bytes);
  return done.messages * start.size_bytes;
}

}  // namespace

int64_t TcpLink::memory_bytes(const TestSpec& spec) {
  return spec.kind == TestKind::kLatency ? *std::ranges::max_element(spec.sizes_bytes)
                                         : spec.qps * static_cast<int64_t>(kReceiveBuffer_bytes);
}

Result<int64_t> TcpLink::send(const Round& round, Watch& watch) {
  const TickClock& clock = watch.clock();
  Shared shared;
  shared.running = static_cast<int>(streams_.size());
  const uint64_t end = clock.now() + clock.to_ticks(round.duration_ns);
  const auto streams = static_cast<int64_t>(streams_.size());
  std::vector<std::jthread> threads;
  for (int64_t i = 0; i < streams; ++i) {
    const int64_t quota = round.messages / streams + (i < round.messages % streams ? 1 : 0);
    const bool started = start_thread(threads, [&, i, quota] {
      shared.finish(send_messages(streams_[static_cast<size_t>(i)], round, quota, end, clock, shared));
    });
    if (started) continue;
    shared.stop = true;
    return fail(no_thread(static_cast<size_t>(i), streams_.size()));
  }
  Result<void> state;
  int64_t seen_bytes = -1;
  uint64_t last_progress = clock.now();
  std::unique_lock lock(shared.mutex);
  while (state && shared.running > 0 && !shared.failure) {
    shared.wait(lock, clock, std::chrono::nanoseconds(clock.to_ns(watch.interval_ticks())));
    lock.unlock();
    const uint64_t now = clock.now();
    const int64_t bytes = shared.bytes;
    if (std::exchange(seen_bytes, bytes) != bytes) last_progress = now;
    state = watch.tick(now, last_progress, bytes / round.size_bytes);
    lock.lock();
  }
  shared.stop = true;
  lock.unlock();
  threads.clear();
  if (shared.failure) return fail(std::move(*shared.failure));
  if (!state) return fail(std::move(state.error()));
  return shared.messages.load();
}

Result<Outcome> TcpLink::receive(const Start& start, Channel& channel, Watch& watch) {
  const TickClock& clock = watch.clock();
  Shared shared;
  shared.running = static_cast<int>(streams_.size());
  std::vector<ThroughputMeter> meters(streams_.size());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (start_thread(threads, [&, i] { shared.finish(receive_bytes(streams_[i], clock, shared, meters[i])); }))
      continue;
    shared.stop = true;
    return fail(no_thread(i, streams_.size()));
  }
  // From here on every return must stop the threads before they are joined.
  const auto run = [&]() -> Result<void> {
    std::optional<int64_t> expected;
    int64_t seen_bytes = -1;
    uint64_t last_progress = clock.now();
    uint64_t next_check = 0;
    while (!expected || shared.bytes < *expected) {
      if (!expected) {
        auto message = channel.receive(kPoll);
        if (!message && message.error().code != Code::kTimeout) return fail(std::move(message.error()));
        if (message) {
          const Done done = TRY(decode_as<Done>(*message));
          expected = TRY(bytes_of_round(done, start));
        }
      } else {
        std::unique_lock lock(shared.mutex);
        shared.wait(lock, clock, std::chrono::milliseconds(1));
      }
      {
        const std::lock_guard lock(shared.mutex);
        if (shared.failure) return fail(*shared.failure);
      }
      const uint64_t now = clock.now();
      const int64_t bytes = shared.bytes;
      if (std::exchange(seen_bytes, bytes) != bytes) last_progress = now;
      if (now >= next_check) {
        next_check = now + watch.interval_ticks();
        TRY(watch.tick(now, last_progress));
      }
    }
    return {};
  };
  const Result<void> state = run();
  shared.stop = true;
  threads.clear();
  if (!state) return fail(state.error());
  ThroughputMeter all;
  for (const ThroughputMeter& meter : meters) all.merge(meter);
  return Outcome{.sequence = start.sequence,
                 .bytes = shared.bytes,
                 .duration_s = static_cast<double>(all.last_ns()) / 1e9,
                 .series = all.series()};
}

}  // namespace railbed::perf
