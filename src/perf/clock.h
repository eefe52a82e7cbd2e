// SPDX-License-Identifier: Apache-2.0
// Time and waiting, so that tests need no real time.
//
// Why: limits, schedules and measured durations must not depend on the load of a test machine. Limits (watch.h) carry
// the clock of a client, a server or an endpoint; its TickClock reads it only if it is not the real one, so a measuring
// loop pays nothing for it. os::Clock cannot wait for descriptors or conditions.
// Threading: any thread.
// Failure: none.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>

#include <poll.h>

namespace railbed::perf {

class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual Time now() = 0;
  // poll(2), and its result: 0 where nothing was ready until then.
  virtual int poll(std::span<pollfd> entries, Time until) = 0;
  // Until `holds`, which `changed` announces, until `stop`, or until then. What `holds` says at the end.
  virtual bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, Time until,
                    const std::stop_token& stop, const std::function<bool()>& holds) = 0;
  // Until `stop` at the latest.
  virtual void sleep_until(Time until, const std::stop_token& stop = {}) = 0;
};

// CLOCK_MONOTONIC.
Clock& real_clock();

}  // namespace railbed::perf
