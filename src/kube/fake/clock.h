// SPDX-License-Identifier: Apache-2.0
// A clock that advances only when a caller waits, or when a test advances it.
//
// There are two modes. With kWithWaits each wait() ends immediately and advances the clock, for code in one thread;
// wait_for() takes real time there, since what ends it comes from other threads. With kOnAdvance all waits last until
// the test has advanced the clock far enough, for code in several threads.
// Threading: any thread.
// Failure: none.
#pragma once

#include <map>
#include <vector>

#include "kube/clock.h"

namespace railbed::kube::fake {

class FakeClock : public Clock {
 public:
  enum class Goes : uint8_t { kWithWaits, kOnAdvance };

  FakeClock() : FakeClock(Goes::kWithWaits) {}
  explicit FakeClock(Goes goes) : goes_(goes) {}
  Instant now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  WallTime wall() const override { return WallTime(std::chrono::hours(24 * 365 * 56) + now().time_since_epoch()); }
  double random() override { return 0.5; }
  bool wait(milliseconds period, std::stop_token stop) override {
    if (stop.stop_requested()) return false;
    std::unique_lock lock(mutex_);
    waits_.push_back(period);
    if (goes_ == Goes::kWithWaits) {
      now_ += period;
      return true;
    }
    const auto end = ends_.emplace(now_ + period, &moved_);
    moved_.wait(lock, stop, [&] { return now_ >= end->first; });
    leave(end);
    return !stop.stop_requested();
  }
  bool wait_for(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, milliseconds period,
                std::stop_token stop, const std::function<bool()>& holds) override {
    if (goes_ == Goes::kWithWaits) return changed.wait_for(lock, stop, period, holds);
    if (holds() || stop.stop_requested()) return holds();
    const auto end = begin(period, changed);
    changed.wait(lock, stop, [&] { return holds() || now() >= end->first; });
    {
      const std::lock_guard own(mutex_);
      leave(end);
    }
    return holds();
  }
  // With kOnAdvance it returns when all whose time is over have woken up.
  void advance(milliseconds period) {
    std::unique_lock lock(mutex_);
    now_ += period;
    // Again until they have: who has just looked at the clock and does not wait yet hears no announcement.
    do {
      for (const auto& [end, changed] : ends_) changed->notify_all();
    } while (!moved_.wait_for(lock, milliseconds(1), [&] { return ends_.empty() || ends_.begin()->first > now_; }));
  }
  // With kOnAdvance: how many wait now for a time.
  size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return ends_.size();
  }
  // How long each wait was to last, in the order in which they began.
  std::vector<milliseconds> waits() const {
    const std::lock_guard lock(mutex_);
    return waits_;
  }

 private:
  // By the end of a wait: what announces to it that the clock has moved. It is there for as long as the wait is.
  using Ends = std::multimap<Instant, std::condition_variable_any*>;
  using End = Ends::iterator;

  End begin(milliseconds period, std::condition_variable_any& changed) {
    const std::lock_guard lock(mutex_);
    waits_.push_back(period);
    return ends_.emplace(now_ + period, &changed);
  }
  void leave(End end) {
    ends_.erase(end);
    moved_.notify_all();
  }

  const Goes goes_;
  mutable std::mutex mutex_;
  std::condition_variable_any moved_;
  Instant now_{std::chrono::hours(1)};
  std::vector<milliseconds> waits_;
  Ends ends_;  // of the waits that last
};

}  // namespace railbed::kube::fake
