// SPDX-License-Identifier: Apache-2.0
#include "perf/clock.h"

#include <algorithm>
#include <thread>

namespace railbed::perf {
namespace {

// What poll(2) needs: whole milliseconds, rounded up, never negative.
int left_ms(Clock::Time until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

class RealClock : public Clock {
 public:
  Time now() override { return std::chrono::steady_clock::now(); }
  int poll(std::span<pollfd> entries, Time until) override {
    return ::poll(entries.data(), entries.size(), left_ms(until));
  }
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, Time until,
            const std::stop_token& stop, const std::function<bool()>& holds) override {
    return changed.wait_until(lock, stop, until, holds);
  }
  void sleep_until(Time until, const std::stop_token& stop) override {
    if (!stop.stop_possible()) return std::this_thread::sleep_until(until);
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    (void)changed.wait_until(lock, stop, until, [] { return false; });
  }
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace railbed::perf
