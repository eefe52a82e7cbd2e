// SPDX-License-Identifier: Apache-2.0
// A thread that runs tasks sequentially, for one rail.
//
// Why: a device stays with the thread that opened it, which is pinned near it (device.h), while an endpoint's own
// thread handles the coordinator.
// Threading: ask() from one thread.
// Failure: kExhausted if no thread can be created.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "perf/clock.h"

namespace railbed::perf::collective {

class RailThread {
 public:
  ~RailThread() {
    thread_.request_stop();
    changed_.notify_all();
  }
  Result<void> start() {
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {
      return fail(no_thread_error("a rail"));
    }
    return {};
  }
  // One at a time: the one before is done.
  void ask(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    changed_.notify_all();
  }
  bool wait_for(Clock& clock, std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return clock.wait(lock, changed_, clock.now() + time, {}, [&] { return !work_; });
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return static_cast<bool>(work_); })) {
      lock.unlock();
      work_();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> work_;
  std::jthread thread_;  // ends before the rest
};

}  // namespace railbed::perf::collective
