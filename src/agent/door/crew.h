// SPDX-License-Identifier: Apache-2.0
// A thread pool: a few threads, and more if those are stuck.
//
// Why not a fixed number of workers: a job mostly waits, for its exclusive section, for an executed plugin, for a DHCP
// server. Sixteen that hang must not prevent the seventeenth from starting. But a burst of two hundred jobs that make
// progress does not need two hundred threads, whose stacks stay in memory: so the owner of the pool calls grow()
// periodically, and threads are added if jobs are queued and none has been started for a while. Extra threads that find
// no work exit.
// Threading: any thread.
// Failure: if the machine has no thread left, jobs wait for the existing ones, and `no_thread` is called.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace railbed::agent {

template <typename T>
class Crew {
 public:
  static constexpr size_t kUsual = 16;
  // No job begun for so long, with jobs waiting: all threads are stuck.
  static constexpr std::chrono::milliseconds kStuck{100};
  using Time = std::chrono::steady_clock::time_point;

  // At most `most` jobs are worked on at once; the others wait in the order in which they came.
  // `no_thread` is called, in the thread of give() or grow(), each time that a thread was needed and could not be had;
  // with how many jobs wait for how many threads. `now` says for how long they have.
  Crew(size_t most, std::function<void(T)> work, std::function<void(size_t jobs, size_t threads)> no_thread = {},
       std::function<Time()> now = std::chrono::steady_clock::now)
      : most_(most),
        usual_(std::min(most, kUsual)),
        work_(std::move(work)),
        no_thread_(std::move(no_thread)),
        now_(std::move(now)) {
    add_thread();
  }
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
      more = waiting_.size() > idle_ && threads_ < usual_;
      if (waiting_.size() == 1) begun_ = now_();  // it has not waited yet
    }
    changed_.notify_one();
    if (more) add_thread();
  }

  // Adds threads where all are stuck, twice as many each time that nothing has moved since. When to call it again;
  // nothing where no job waits.
  std::optional<Time> grow() {
    size_t more = 0;
    Time again;
    {
      std::lock_guard lock(mutex_);
      if (waiting_.size() <= idle_) return std::nullopt;
      again = begun_ + kStuck;
      if (again <= now_()) {
        more = std::min({step_, waiting_.size(), most_ - threads_});
        step_ *= 2;
        begun_ = now_();
        again = begun_ + kStuck;
      }
    }
    for (size_t i = 0; i < more; ++i) add_thread();
    return again;
  }

  // The jobs that were not begun, and will not be.
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
      size_t jobs = 0;
      size_t threads = 0;
      {
        std::lock_guard lock(mutex_);
        --threads_;
        if (threads_ == 0) throw;  // the first one: nothing can be served
        jobs = waiting_.size();
        threads = threads_;
      }
      if (no_thread_) no_thread_(jobs, threads);
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (!closed_) {
      if (waiting_.empty()) {
        ++idle_;
        const bool woken = changed_.wait_for(lock, kIdle, [this] { return closed_ || !waiting_.empty(); });
        --idle_;
        if (!woken && threads_ > usual_) break;
        continue;
      }
      T job = std::move(waiting_.front());
      waiting_.pop_front();
      begun_ = now_();
      lock.unlock();
      work_(std::move(job));
      lock.lock();
      step_ = 1;  // something has moved; that a thread which was just added begins a job says nothing
    }
    --threads_;
    // With the mutex held: the crew may be gone as soon as it is free.
    ended_.notify_all();
  }

  const size_t most_;
  const size_t usual_;
  const std::function<void(T)> work_;
  const std::function<void(size_t, size_t)> no_thread_;
  const std::function<Time()> now_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable ended_;
  std::deque<T> waiting_;
  size_t threads_ = 0;
  size_t idle_ = 0;
  Time begun_ = now_();  // when a job was last begun, or came to be the first that waits
  size_t step_ = 1;      // how many threads to add when they are stuck
  bool closed_ = false;
};

}  // namespace railbed::agent
