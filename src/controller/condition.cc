// SPDX-License-Identifier: Apache-2.0
#include "controller/condition.h"

namespace railbed::controller {

using doc::Value;

namespace {

// The stored condition of this type, for the time of its last change; null where there is none.
const Value* stored_condition(const Value& status, std::string_view type) {
  const Value* list = status.find("conditions");
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const Value& one : *list->as_array())
    if (const Value* name = one.find("type"); name && name->as_string() && *name->as_string() == type) return &one;
  return nullptr;
}

}  // namespace

Value ready_condition(const Value& status, int64_t generation, std::string_view now, const Readiness& readiness) {
  Value out = Value::object();
  const Value* before = stored_condition(status, "Ready");
  const Value* was = before ? before->find("status") : nullptr;
  const Value* since = before ? before->find("lastTransitionTime") : nullptr;
  const bool same = was && was->as_string() && *was->as_string() == readiness.status && since && since->as_string();
  out.set("lastTransitionTime", same ? *since->as_string() : std::string(now));
  out.set("message", readiness.message);
  out.set("observedGeneration", generation);
  out.set("reason", readiness.reason);
  out.set("status", readiness.status);
  out.set("type", "Ready");
  return out;
}

}  // namespace railbed::controller
