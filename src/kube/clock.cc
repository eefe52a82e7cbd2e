// SPDX-License-Identifier: Apache-2.0
#include "kube/clock.h"

#include <condition_variable>
#include <ctime>
#include <mutex>
#include <random>

#include "base/format.h"

namespace railbed::kube {
namespace {

class RealClock : public Clock {
 public:
  Instant now() const override { return BootClock::now(); }
  WallTime wall() const override { return std::chrono::system_clock::now(); }
  double random() override {
    const std::lock_guard lock(mutex_);
    return std::uniform_real_distribution<double>()(engine_);
  }
  bool wait(milliseconds period, std::stop_token stop) override {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, period, [] { return false; });
    return !stop.stop_requested();
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_{std::random_device{}()};
};

}  // namespace

Instant BootClock::now() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return Instant(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

std::unique_ptr<Clock> real_clock() {
  return std::make_unique<RealClock>();
}

std::string micro_time(WallTime time) {
  using namespace std::chrono;
  const auto whole = floor<seconds>(time);
  const time_t since_epoch = system_clock::to_time_t(whole);
  tm parts{};
  gmtime_r(&since_epoch, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     duration_cast<microseconds>(time - whole).count());
}

}  // namespace railbed::kube
