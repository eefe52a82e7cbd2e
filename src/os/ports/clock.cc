// SPDX-License-Identifier: Apache-2.0
#include "os/ports/clock.h"

#include <thread>

namespace railbed::os {
namespace {

class RealClock : public Clock {
 public:
  std::chrono::steady_clock::time_point now() const override { return std::chrono::steady_clock::now(); }
  void wait_until(Deadline deadline) override { std::this_thread::sleep_until(deadline); }
};

}  // namespace

std::unique_ptr<Clock> real_clock() {
  return std::make_unique<RealClock>();
}

}  // namespace railbed::os
