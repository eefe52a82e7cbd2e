// SPDX-License-Identifier: Apache-2.0
// Writes the status of an object, and says it by an Event where the object's kind does not keep our status.
//
// Why: a definition of the kind that another operator installed prunes what it does not know. Threading: any thread.
// Failure: apply() returns false, and logs why.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "controller/manager.h"

namespace railbed::controller {

struct StatusToApply {
  const kube::Resource& kind;
  std::string what;  // for the log: "policy op/rail0"
  kube::ObjectPtr of;
  doc::Value status;
  kube::EventType type = kube::EventType::kNormal;
  std::string reason, note;  // of the Event
};

class Statuses {
 public:
  explicit Statuses(Manager& manager) : manager_(manager) {}
  // False: to be tried again. An object that was replaced or deleted meanwhile needs no status.
  bool apply(StatusToApply one, std::stop_token stop);

 private:
  Manager& manager_;
  std::mutex mutex_;
  std::map<std::string, std::string> last_status_by_uid_;  // by UID: what an Event said
};

// The first condition of a status; empty texts where it has none.
struct FirstCondition {
  std::string status, reason, message;
  std::string text() const { return reason.empty() ? "" : reason + ": " + message; }
};
FirstCondition first_condition(const doc::Value& status);

}  // namespace railbed::controller
