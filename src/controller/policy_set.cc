// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_set.h"

#include <algorithm>

#include "api/policy.h"
#include "doc/fields.h"
#include "doc/members.h"

namespace railbed::controller {

using doc::Value;

PolicySet::PolicySet(const kube::Objects& stored, const graph::Options& options, uint64_t version,
                     std::optional<PolicyNamespaces> namespaces)
    : version_(version), namespaces_(std::move(namespaces)) {
  for (const auto& [key, object] : stored) {
    if (std::string why = namespaces_ ? namespaces_->why_not(key.ns) : ""; !why.empty()) {
      if (namespaces_->taken.contains(key.ns))
        taken_.push_back({key.to_string(), key.name, node_selector_of(*object), std::move(why)});
      continue;
    }
    doc::Diagnostics found;
    if (auto policy = api::parse_policy(*object, found))
      objects_.policies.push_back(std::move(*policy));
    else if (key.name != "default")
      unreadable_.push_back({key.to_string(), node_selector_of(*object), doc::first_error(found).error().message});
  }
  doc::Diagnostics reported;  // findings about manifests; what concerns the cluster is in the outcomes
  catalog_ = graph::index(objects_, options, reported);
}

bool PolicySet::empty() const {
  return unreadable_.empty() &&
         std::ranges::none_of(objects_.policies, [](const auto& policy) { return *policy.meta.name != "default"; });
}

graph::Labels node_selector_of(const Value& policy) {
  return doc::text_map_at(policy, "spec.nodeSelector");
}

bool asks_the_same(const Value& before, const Value& after) {
  const auto same = [&](std::string_view path) {
    const Value *old = doc::at(before, path), *now = doc::at(after, path);
    return (old != nullptr ? *old : Value()) == (now != nullptr ? *now : Value());
  };
  return same("spec") && same("metadata.annotations");
}

}  // namespace railbed::controller
