// SPDX-License-Identifier: Apache-2.0
// Threads that work on jobs: as many as there are jobs, up to a limit.
//
// Why not a few workers: nearly all that a job does is wait, for its turn, for a plugin that is executed, for a DHCP
// server. Sixteen that wait must not keep the seventeenth from being begun. A thread that found nothing to do for a
// while ends, one always stays.
// Threading: any thread. Failure: where the machine has no thread left, jobs wait for those that are there.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace railbed::agent {

template <typename T>
class Crew {
 public:
  // At most `most` jobs are worked on at once; the others wait in the order in which they came.
  Crew(size_t most, std::function<void(T)> work) : most_(most), work_(std::move(work)) { add_thread(); }
  // Waits for the jobs that were begun; those that wait are dropped.
  ~Crew() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    waiting_.clear();
    changed_.notify_all();
    ended_.wait(lock, [this] { return threads_ == 0; });
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void give(T job) {
    bool more = false;
    {
      std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(job));
      more = waiting_.size() > idle_ && threads_ < most_;
    }
    changed_.notify_one();
    if (more) add_thread();
  }

  // The jobs that nobody has begun; nobody will.
  std::deque<T> take_waiting() {
    std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
  }

 private:
  static constexpr std::chrono::seconds kIdle{10};

  void add_thread() {
    {
      std::lock_guard lock(mutex_);
      ++threads_;
    }
    try {
      std::thread([this] { run(); }).detach();
    } catch (const std::system_error&) {
      std::lock_guard lock(mutex_);
      --threads_;
      if (threads_ == 0) throw;  // the first one: nothing can be served
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (!closed_) {
      if (waiting_.empty()) {
        ++idle_;
        const bool woken = changed_.wait_for(lock, kIdle, [this] { return closed_ || !waiting_.empty(); });
        --idle_;
        if (!woken && threads_ > 1) break;
        continue;
      }
      T job = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work_(std::move(job));
      lock.lock();
    }
    --threads_;
    // With the mutex held: the crew may be gone as soon as it is free.
    ended_.notify_all();
  }

  const size_t most_;
  const std::function<void(T)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable ended_;
  std::deque<T> waiting_;
  size_t threads_ = 0;
  size_t idle_ = 0;
  bool closed_ = false;
};

}  // namespace railbed::agent
