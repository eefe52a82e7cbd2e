// SPDX-License-Identifier: Apache-2.0
// Time and waiting, so that tests need neither.
//
// Threading: any thread. Failure: none.
#pragma once

#include <chrono>
#include <memory>

namespace railbed::os {

using Deadline = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::steady_clock::time_point now() const = 0;
  // Only for conditions that the kernel does not announce; everything else waits for an announcement.
  virtual void wait_until(Deadline deadline) = 0;
};

std::unique_ptr<Clock> real_clock();

}  // namespace railbed::os
