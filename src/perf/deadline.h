// SPDX-License-Identifier: Apache-2.0
// A point in time by which something must have happened.
//
// Why: timeouts that are handed from call to call add up; a deadline does not. Threading: a plain value.
#pragma once

#include <algorithm>
#include <chrono>

namespace railbed::perf {

// How often a longer wait looks whether it shall stop.
inline constexpr std::chrono::milliseconds kLookForStop{250};

class Deadline {
 public:
  static Deadline after(std::chrono::milliseconds delay) { return Deadline(Clock::now() + delay); }
  Deadline or_earlier(const Deadline& other) const { return Deadline(std::min(at_, other.at_)); }
  bool passed() const { return Clock::now() >= at_; }
  // The timeout that poll(2) needs: whole milliseconds, rounded up, never negative.
  int left_ms() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
  }

 private:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace railbed::perf
