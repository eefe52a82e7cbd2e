// SPDX-License-Identifier: Apache-2.0
#include "os/clock.h"

namespace railbed::os {
namespace {

class RealClock : public Clock {
 public:
  std::chrono::steady_clock::time_point now() const override { return std::chrono::steady_clock::now(); }
  std::chrono::system_clock::time_point wall() const override { return std::chrono::system_clock::now(); }
};

}  // namespace

std::unique_ptr<Clock> real_clock() {
  return std::make_unique<RealClock>();
}

}  // namespace railbed::os
