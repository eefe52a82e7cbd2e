// SPDX-License-Identifier: Apache-2.0
// Time, randomness and interruptible waits for the API client.
//
// Why: retries, leases and watches wait for seconds to minutes, must end immediately when their owner stops, and must
// be tested without waiting. os::Clock cannot be interrupted and has no wall time. Durations are measured since boot,
// including the time in which the machine was suspended: a leader that was suspended beyond its lease must detect that
// when it resumes.
// Threading: any thread.
// Failure: none.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace railbed::kube {

using std::chrono::milliseconds;

// CLOCK_BOOTTIME.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
  static time_point now();
};
using Instant = BootClock::time_point;
using WallTime = std::chrono::system_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  virtual WallTime wall() const = 0;
  // Evenly distributed from 0 to below 1.
  virtual double random() = 0;
  // False when `stop` ended the wait.
  virtual bool wait(milliseconds period, std::stop_token stop) = 0;
  // Until `holds`, which `changed` announces, until `stop`, or for `period`. What `holds` says then.
  virtual bool wait_for(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, milliseconds period,
                        std::stop_token stop, const std::function<bool()>& holds) = 0;
};

std::unique_ptr<Clock> real_clock();

// metav1.MicroTime, "2026-01-31T12:00:00.000000Z".
std::string micro_time(WallTime time);
// metav1.Time, "2026-01-31T12:00:00Z".
std::string second_time(WallTime time);
// Both of them, and RFC 3339 with an offset; nothing for any other text.
std::optional<WallTime> read_time(const std::string& text);

}  // namespace railbed::kube
