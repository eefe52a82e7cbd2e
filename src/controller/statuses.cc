// SPDX-License-Identifier: Apache-2.0
#include "controller/statuses.h"

#include "base/format.h"
#include "controller/node_states.h"
#include "doc/members.h"

namespace railbed::controller {

using doc::Value;

namespace {

Value status_object(const Value& of, Value status) {
  Value out = Value::object();
  Value& meta = out.set("metadata", Value::object());
  const kube::ObjectKey key = kube::key_of(of);
  meta.set("name", key.name);
  meta.set("namespace", key.ns);
  meta.set("uid", kube::uid_of(of));
  out.set("status", std::move(status));
  return out;
}

bool keeps_status(const Value& answer) {
  const Value* conditions = doc::at(answer, "status.conditions");
  return conditions != nullptr && conditions->is_array();
}

}  // namespace

FirstCondition first_condition(const Value& status) {
  const Value::Array* conditions = doc::list_in(status, "conditions");
  if (conditions == nullptr || conditions->empty()) return {};
  const Value& one = conditions->front();
  return {doc::text_in(one, "status"), doc::text_in(one, "reason"), doc::text_in(one, "message")};
}

bool Statuses::apply(StatusToApply one, std::stop_token stop) {
  const std::string uid = kube::uid_of(*one.of);
  const std::string text = first_condition(one.status).text();
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = last_status_by_uid_.find(uid); known != last_status_by_uid_.end() && known->second == text)
      return true;
  }
  if (!manager_.may_write()) return true;
  const auto answer = manager_.writer().apply(one.kind, status_object(*one.of, std::move(one.status)),
                                              {.manager = std::string(kFieldManager),
                                               .conflicts = kube::ApplyOptions::Conflicts::kTakeOver,
                                               .part = kube::Part::kStatus},
                                              std::move(stop));
  const bool is_gone = !answer && (answer.error().code == Code::kNotFound || answer.error().code == Code::kConflict);
  if (is_gone) return true;  // another object is there, or none: its change is a task of its own
  if (!manager_.wrote(one.kind, one.what, answer ? nullptr : &answer.error())) return false;
  {
    const std::lock_guard lock(mutex_);
    if (keeps_status(*answer)) {
      last_status_by_uid_.erase(uid);
      return true;
    }
    last_status_by_uid_[uid] = text;
  }
  manager_.event(one.type, std::move(one.reason), std::move(one.note), kube::regarding(*one.of));
  return true;
}

}  // namespace railbed::controller
