// SPDX-License-Identifier: Apache-2.0
#include "controller/work_queue.h"

#include <algorithm>

#include "kube/retry.h"

namespace railbed::controller {

using kube::Instant;
using kube::milliseconds;

namespace {
constexpr milliseconds kFirstPause{500};
constexpr milliseconds kLongestPause{60000};
}  // namespace

void WorkQueue::put(const Task& task, Instant due) {
  if (const auto working = working_.find(task); working != working_.end()) {
    working->second = std::min(working->second.value_or(due), due);
    return;
  }
  const auto [waiting, is_new] = due_.emplace(task, due);
  if (!is_new) {
    if (waiting->second <= due) return;
    order_.erase({waiting->second, task});
    waiting->second = due;
  }
  order_.emplace(due, task);
  changed_.notify_all();  // each waits for another time
}

void WorkQueue::add(Task task, milliseconds delay) {
  const std::lock_guard lock(mutex_);
  put(task, clock_.now() + delay);
}

std::optional<Task> WorkQueue::take(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Instant now = clock_.now();
    if (!order_.empty() && order_.begin()->first <= now) {
      Task task = order_.begin()->second;
      order_.erase(order_.begin());
      due_.erase(task);
      working_.emplace(task, std::nullopt);
      return task;
    }
    if (order_.empty())
      changed_.wait(lock, stop, [&] { return !order_.empty(); });
    else
      clock_.wait_for(lock, changed_, std::chrono::ceil<milliseconds>(order_.begin()->first - now), stop,
                      [&, first = order_.begin()->first] { return order_.empty() || order_.begin()->first < first; });
  }
  return std::nullopt;
}

void WorkQueue::done(const Task& task) {
  const std::lock_guard lock(mutex_);
  failures_.erase(task);
  const auto working = working_.extract(task);
  if (!working.empty() && working.mapped()) put(task, *working.mapped());
}

void WorkQueue::failed(const Task& task) {
  const std::lock_guard lock(mutex_);
  const int failures = ++failures_[task];
  working_.erase(task);
  put(task, clock_.now() + kube::backoff(failures, clock_.random(), kFirstPause, kLongestPause));
}

bool WorkQueue::idle() const {
  const std::lock_guard lock(mutex_);
  return working_.empty() && (order_.empty() || order_.begin()->first > clock_.now());
}

size_t WorkQueue::size() const {
  const std::lock_guard lock(mutex_);
  return due_.size() + working_.size();
}

}  // namespace railbed::controller
