// SPDX-License-Identifier: Apache-2.0
// What the drain of each node waits for, for the status of the policies that wait for it.
//
// Why: the reconciler of drains knows it, and that of node states makes the outcomes of policies. Threading: any
// thread. Failure: none.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace railbed::controller {

class DrainNotes {
 public:
  // Empty: nothing is to be said. Whether that is new.
  bool put(const std::string& node, const std::string& text) {
    const std::lock_guard lock(mutex_);
    const auto known = notes_.find(node);
    if (known != notes_.end() ? known->second == text : text.empty()) return false;
    if (text.empty())
      notes_.erase(known);
    else
      notes_[node] = text;
    return true;
  }
  std::string of(const std::string& node) const {
    const std::lock_guard lock(mutex_);
    const auto known = notes_.find(node);
    return known != notes_.end() ? known->second : "";
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> notes_;
};

}  // namespace railbed::controller
