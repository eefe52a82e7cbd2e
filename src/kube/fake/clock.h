// SPDX-License-Identifier: Apache-2.0
// A clock that goes on only when somebody waits, or when a test says so.
//
// Threading: any thread. Failure: none.
#pragma once

#include <mutex>
#include <vector>

#include "kube/clock.h"

namespace railbed::kube::fake {

class FakeClock : public Clock {
 public:
  Instant now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  WallTime wall() const override { return WallTime(std::chrono::hours(24 * 365 * 56) + now().time_since_epoch()); }
  double random() override { return 0.5; }
  bool wait(milliseconds period, std::stop_token stop) override {
    if (stop.stop_requested()) return false;
    const std::lock_guard lock(mutex_);
    now_ += period;
    waits_.push_back(period);
    return true;
  }
  void advance(milliseconds period) {
    const std::lock_guard lock(mutex_);
    now_ += period;
  }
  std::vector<milliseconds> waits() const {
    const std::lock_guard lock(mutex_);
    return waits_;
  }

 private:
  mutable std::mutex mutex_;
  Instant now_{std::chrono::hours(1)};
  std::vector<milliseconds> waits_;
};

}  // namespace railbed::kube::fake
