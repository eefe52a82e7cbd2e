// SPDX-License-Identifier: Apache-2.0
// For tests: a clock that advances when all threads of this process are idle.
//
// Why: limits that should expire do so immediately, and no other limit does: a thread that is runnable but not
// scheduled holds the clock. The kernel reports idle threads (/proc/self/task): no thread has run between two looks,
// and all sleep. Then the clock advances to the end of the wait that ends first, and at most by the longest slice of a
// wait (kLookForStop), because loops that wait in the kernel by themselves read it from time to time.
// Threading: any thread; it has one of its own.
// Failure: none.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "perf/clock.h"
#include "perf/deadline.h"

namespace railbed::perf {

// Of all threads but those of the clocks: how often each was given the processor or gave it away.
class ThreadsAtRest {
 public:
  // While there is one, its thread is no part of what rests.
  class WithoutThisThread {
   public:
    WithoutThisThread() {
      const std::lock_guard lock(mutex());
      left_out().insert(thread_);
    }
    ~WithoutThisThread() {
      const std::lock_guard lock(mutex());
      left_out().erase(thread_);
    }
    WithoutThisThread(const WithoutThisThread&) = delete;
    WithoutThisThread& operator=(const WithoutThisThread&) = delete;

   private:
    const std::string thread_ = std::to_string(gettid());
  };
  // Whether no thread has run since the last look, and all sleep.
  bool look() {
    bool all_sleep = true;
    std::map<std::string, std::string> now;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", gone)) {
      const std::string thread = entry.path().filename();
      if (is_left_out(thread)) continue;
      std::ifstream file(entry.path() / "status");
      for (std::string line; std::getline(file, line);) {
        if (line.starts_with("State:") && line.find('S', 6) == std::string::npos) all_sleep = false;
        if (line.contains("ctxt_switches:")) now[thread] += line;
      }
    }
    const bool same = now == before_;
    before_ = std::move(now);
    return same && all_sleep;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::set<std::string>& left_out() {
    static std::set<std::string> threads;
    return threads;
  }
  static bool is_left_out(const std::string& thread) {
    const std::lock_guard lock(mutex());
    return left_out().contains(thread);
  }

  std::map<std::string, std::string> before_;
};

class RestingClock : public Clock {
 public:
  // `step`: how far each reading moves it, for loops that read it until it is late enough.
  explicit RestingClock(std::chrono::nanoseconds step = std::chrono::nanoseconds(0))
      : step_ns_(step.count()), thread_([this](const std::stop_token& stop) { go_on(stop); }) {}
  RestingClock(const RestingClock&) = delete;
  RestingClock& operator=(const RestingClock&) = delete;

  Time now() override { return Time(std::chrono::nanoseconds(now_ns_.fetch_add(step_ns_) + step_ns_)); }
  int poll(std::span<pollfd> entries, Time until) override {
    std::vector<pollfd> all(entries.begin(), entries.end());
    const Announced announced;
    all.push_back({.fd = announced.fd, .events = POLLIN, .revents = 0});
    const auto wait = begin({.until = until, .fd = announced.fd});
    // Announced again and again until end(), so that nothing has to be read.
    int ready = ::poll(all.data(), all.size(), is_past(until) ? 0 : -1);
    end(wait);
    for (size_t i = 0; i < entries.size(); ++i) entries[i].revents = all[i].revents;
    if (ready > 0 && all.back().revents != 0) --ready;
    return ready;
  }
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, Time until,
            const std::stop_token& stop, const std::function<bool()>& holds) override {
    const auto wait = begin({.until = until, .changed = &changed});
    changed.wait(lock, stop, [&] { return holds() || is_past(until); });
    end(wait);
    return holds();
  }
  void sleep_until(Time until, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    (void)wait(lock, changed, until, stop, [] { return false; });
  }

 private:
  struct Announced {
    Announced() = default;
    Announced(const Announced&) = delete;
    Announced& operator=(const Announced&) = delete;
    ~Announced() { ::close(fd); }
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  };
  // What is announced to where its time is over.
  struct Wait {
    Time until;
    int fd = -1;
    std::condition_variable_any* changed = nullptr;
  };
  using Waits = std::list<Wait>;

  bool is_past(Time until) const { return Time(std::chrono::nanoseconds(now_ns_)) >= until; }
  Waits::iterator begin(Wait wait) {
    const std::lock_guard lock(mutex_);
    return waits_.insert(waits_.end(), wait);
  }
  void end(Waits::iterator wait) {
    const std::lock_guard lock(mutex_);
    waits_.erase(wait);
  }

  // Whether there was any. Who has just looked at the clock and does not sleep yet hears it the next time.
  bool announce() {
    const std::lock_guard lock(mutex_);
    bool any = false;
    for (const Wait& one : waits_) {
      if (!is_past(one.until)) continue;
      any = true;
      if (one.changed != nullptr)
        one.changed->notify_all();
      else
        eventfd_write(one.fd, 1);
    }
    return any;
  }
  void go_to_next() {
    const std::lock_guard lock(mutex_);
    const Time now{std::chrono::nanoseconds(now_ns_)};
    Time next = now + kLookForStop;
    for (const Wait& one : waits_) next = std::min(next, std::max(now, one.until));
    now_ns_ += std::chrono::nanoseconds(next - now).count();
  }
  void go_on(const std::stop_token& stop) {
    const ThreadsAtRest::WithoutThisThread without;
    ThreadsAtRest threads;
    for (int at_rest = 0; !stop.stop_requested(); std::this_thread::sleep_for(kBetweenLooks)) {
      const bool woken = announce();
      at_rest = threads.look() && !woken ? at_rest + 1 : 0;
      if (at_rest < kLooks) continue;
      go_to_next();
      announce();
      at_rest = 0;
    }
  }

  static constexpr std::chrono::milliseconds kBetweenLooks{1};
  static constexpr int kLooks = 2;  // the kernel may have a packet on its way, which is no thread
  const int64_t step_ns_;
  std::atomic<int64_t> now_ns_{std::chrono::nanoseconds(std::chrono::hours(1)).count()};
  std::mutex mutex_;
  Waits waits_;
  std::jthread thread_;  // ends before the rest
};

}  // namespace railbed::perf
