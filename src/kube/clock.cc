// SPDX-License-Identifier: Apache-2.0
#include "kube/clock.h"

#include <condition_variable>
#include <cstring>
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
  bool wait_for(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, milliseconds period,
                std::stop_token stop, const std::function<bool()>& holds) override {
    return changed.wait_for(lock, std::move(stop), period, holds);
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

std::string second_time(WallTime time) {
  return micro_time(time).substr(0, std::string_view("2026-01-31T12:00:00").size()) + "Z";
}

std::optional<WallTime> read_time(const std::string& text) {
  tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  if (*rest == '.') rest += 1 + strspn(rest + 1, "0123456789");
  if (*rest == 'Z' && rest[1] == '\0') return std::chrono::system_clock::from_time_t(timegm(&parts));
  tm offset{};
  if (*rest != '+' && *rest != '-') return std::nullopt;
  const char* end = strptime(rest + 1, "%H:%M", &offset);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const auto east = std::chrono::minutes(offset.tm_hour * 60 + offset.tm_min);
  return std::chrono::system_clock::from_time_t(timegm(&parts)) - (*rest == '+' ? east : -east);
}

}  // namespace railbed::kube
