// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_set.h"

#include <algorithm>

#include "api/policy.h"
#include "doc/fields.h"
#include "doc/members.h"

namespace railbed::controller {

using doc::Value;

PolicySet::PolicySet(const kube::Objects& stored, const graph::Options& options, uint64_t version) : version_(version) {
  for (const auto& [key, object] : stored) {
    doc::Diagnostics found;
    if (auto policy = api::parse_policy(*object, found))
      objects_.policies.push_back(std::move(*policy));
    else if (key.name != "default")
      unreadable_.push_back({key.to_string(), node_selector_of(*object), doc::first_error(found).error().message});
  }
  doc::Diagnostics told;  // findings about manifests; what concerns the cluster is in the outcomes
  catalog_ = graph::index(objects_, options, told);
}

bool PolicySet::empty() const {
  return unreadable_.empty() &&
         std::ranges::none_of(objects_.policies, [](const auto& policy) { return *policy.meta.name != "default"; });
}

graph::Labels node_selector_of(const Value& policy) {
  graph::Labels out;
  const Value* spec = doc::object_in(policy, "spec");
  const Value* selector = spec != nullptr ? doc::object_in(*spec, "nodeSelector") : nullptr;
  if (selector == nullptr) return out;
  for (const Value::Member& member : *selector->as_object())
    if (const std::string* value = member.value.as_string()) out[member.key] = *value;
  return out;
}

bool asks_the_same(const Value& before, const Value& after) {
  const auto part = [](const Value& object, std::string_view outer, std::string_view inner) {
    const Value* in = doc::object_in(object, outer);
    const Value* found = in != nullptr && !inner.empty() ? in->find(inner) : in;
    return found != nullptr ? *found : Value();
  };
  return part(before, "spec", "") == part(after, "spec", "") &&
         part(before, "metadata", "annotations") == part(after, "metadata", "annotations");
}

}  // namespace railbed::controller
