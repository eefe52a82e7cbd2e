// SPDX-License-Identifier: Apache-2.0
// Requests that wait for a worker, and answers that wait for the reader.
//
// Threading: any thread.
// Failure: none.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace railbed::agent {

template <typename T>
class WorkQueue {
 public:
  void put(T item) {
    {
      std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    ready_.notify_one();
  }
  // Waits for an item; nullopt when the queue was closed.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }
  // Takes all items without waiting.
  std::deque<T> take_all() {
    std::lock_guard lock(mutex_);
    return std::exchange(items_, {});
  }
  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace railbed::agent
