// SPDX-License-Identifier: Apache-2.0
// For tests: a clock that advances with the operations, independent of the machine's speed.
//
// Each reading advances it by a step, a sleep advances it to its end immediately, and a test or a device in memory
// (fake_verbs.h) advances it by the simulated duration of an operation. A wait for a socket or for another thread takes
// real time, in which this clock stops: no limit expires because other processes use the processor. Each side of a test
// has its own clock, as each machine has.
// Threading: any thread.
// Failure: none.
#pragma once

#include <algorithm>
#include <atomic>

#include "perf/clock.h"
#include "perf/deadline.h"

namespace railbed::perf {

class SimulatedClock : public Clock {
 public:
  explicit SimulatedClock(std::chrono::nanoseconds step = std::chrono::nanoseconds(0)) : step_ns_(step.count()) {}
  SimulatedClock(const SimulatedClock&) = delete;
  SimulatedClock& operator=(const SimulatedClock&) = delete;

  Time now() override { return Time(std::chrono::nanoseconds(now_ns_.fetch_add(step_ns_) + step_ns_)); }
  // Callers look whether they shall stop, and come back: the longest slice is short.
  int poll(std::span<pollfd> entries, Time until) override {
    const auto slice = std::chrono::ceil<std::chrono::milliseconds>(real_slice(until));
    return ::poll(entries.data(), entries.size(), static_cast<int>(slice.count()));
  }
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, Time until,
            const std::stop_token& stop, const std::function<bool()>& holds) override {
    return changed.wait_for(lock, stop, real_slice(until), holds);
  }
  void sleep_until(Time until, const std::stop_token&) override {
    ++sleeps_;
    for (int64_t before = now_ns_; before < ns_of(until) && !now_ns_.compare_exchange_weak(before, ns_of(until));)
      continue;
  }
  void advance(std::chrono::nanoseconds by) { now_ns_ += by.count(); }
  int64_t sleeps() const { return sleeps_; }

 private:
  static int64_t ns_of(Time time) { return std::chrono::nanoseconds(time.time_since_epoch()).count(); }
  Time::duration real_slice(Time until) const {
    const Time now{std::chrono::nanoseconds(now_ns_)};
    return std::clamp<Time::duration>(until - now, Time::duration(0), kLookForStop);
  }

  const int64_t step_ns_;
  std::atomic<int64_t> now_ns_{std::chrono::nanoseconds(std::chrono::hours(1)).count()};
  std::atomic<int64_t> sleeps_{0};
};

}  // namespace railbed::perf
