// SPDX-License-Identifier: Apache-2.0
// Tasks by key, each at most once in the queue and never processed by two threads at once.
//
// Why: what is to be done for an object is decided from what is known when a worker takes the task, so ten changes
// while it is queued are one task. A task that is added while it is being processed is processed again afterwards. A
// task can be delayed; adding it again with an earlier time makes it earlier. As client-go's workqueue.
// Threading: any thread.
// Failure: none.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "kube/clock.h"

namespace railbed::controller {

struct Task {
  std::string reconciler;  // Reconciler::name()
  std::string key;
  friend auto operator<=>(const Task&, const Task&) = default;
};

class WorkQueue {
 public:
  explicit WorkQueue(kube::Clock& clock) : clock_(clock) {}

  void add(Task task, kube::milliseconds delay = {});
  // Waits for one; nothing once `stop` came. done() belongs to each that was taken.
  std::optional<Task> take(std::stop_token stop);
  void done(const Task& task);
  // done(), and again after a pause that doubles with each failure in a row.
  void failed(const Task& task);
  // Nothing is waiting or being worked on, except what waits for a time.
  bool idle() const;
  size_t size() const;

 private:
  void put(const Task& task, kube::Instant due);

  kube::Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<Task, kube::Instant> due_;
  std::set<std::pair<kube::Instant, Task>> order_;
  std::map<Task, std::optional<kube::Instant>> working_;  // and when it is to be done again
  std::map<Task, int> failures_;
};

}  // namespace railbed::controller
