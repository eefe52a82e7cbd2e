// SPDX-License-Identifier: Apache-2.0
// A point in time by which an operation must have completed.
//
// Why: timeouts that are passed from call to call add up; a deadline does not.
// Threading: a plain value; the clock outlives it.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>

#include "perf/clock.h"

namespace railbed::perf {

// How often a longer wait looks whether it shall stop.
inline constexpr std::chrono::milliseconds kLookForStop{250};

class Deadline {
 public:
  static Deadline after(std::chrono::milliseconds delay, Clock& clock = real_clock()) {
    return {clock, clock.now() + delay};
  }
  // So long from now, by the same clock, and no later than this one.
  Deadline or_after(std::chrono::milliseconds delay) const { return {*clock_, std::min(at_, clock_->now() + delay)}; }
  bool passed() const { return clock_->now() >= at_; }
  // poll(2) until then: 0 where nothing was ready.
  int poll(std::span<pollfd> entries) const { return clock_->poll(entries, at_); }

 private:
  Deadline(Clock& clock, Clock::Time at) : clock_(&clock), at_(at) {}
  Clock* clock_;
  Clock::Time at_;
};

}  // namespace railbed::perf
