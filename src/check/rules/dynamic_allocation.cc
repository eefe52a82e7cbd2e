// SPDX-License-Identifier: Apache-2.0
#include "check/rules/dynamic_allocation.h"

#include <algorithm>
#include <set>

#include "check/read/objects.h"
#include "check/rules/lookups.h"

namespace railbed::check {
namespace {

using doc::Value;

// The value of `key` at any depth, the first one.
const Value* find_below(const Value& value, std::string_view key, int depth = 0) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) return nullptr;
  if (const Value::Array* items = value.as_array())
    for (const Value& item : *items)
      if (const Value* found = find_below(item, key, depth + 1)) return found;
  if (const Value::Object* members = value.as_object())
    for (const Value::Member& member : *members) {
      if (member.key == key) return &member.value;
      if (const Value* found = find_below(member.value, key, depth + 1)) return found;
    }
  return nullptr;
}

// All texts below a key at any depth.
void add_texts_below(const Value& value, std::string_view key, std::vector<std::string_view>& out, int depth = 0) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) return;
  if (const Value::Array* items = value.as_array())
    for (const Value& item : *items) add_texts_below(item, key, out, depth + 1);
  if (const Value::Object* members = value.as_object())
    for (const Value::Member& member : *members) {
      if (member.key == key && member.value.as_string() != nullptr) out.push_back(*member.value.as_string());
      add_texts_below(member.value, key, out, depth + 1);
    }
}

const Value* gate_in(const Value& value) {
  const Value* gates = find_below(value, "featureGates");
  const Value* gate = gates == nullptr ? nullptr : gates->find("dynamicResourceAllocation");
  return gate != nullptr && gate->as_bool() != nullptr && *gate->as_bool() ? gate : nullptr;
}

// Objects whose feature gates are the SR-IOV operator's: its own, and the values of its charts.
bool may_have_gates(const Document& document) {
  static constexpr std::string_view kKinds[] = {"SriovOperatorConfig", "HelmRelease", "HelmChart", "HelmChartConfig",
                                                "Application"};
  return std::ranges::find(kKinds, document.kind) != std::end(kKinds);
}

}  // namespace

bool is_network_class(std::string_view name) {
  static constexpr std::string_view kWords[] = {"sriov", "dranet", "dra.net", "networkdriver", "rdma", "nic", "vf"};
  const std::string lowered = lower(name);
  return std::ranges::any_of(kWords, [&](std::string_view word) { return lowered.find(word) != std::string::npos; });
}

DynamicAllocation::DynamicAllocation(const Input& in) : in_(in) {
  for (const Document& document : in.bundle.documents)
    if (gate_ == nullptr && may_have_gates(document)) gate_ = gate_in(document.value);
  for (const Value& value : in.bundle.without_kind)
    if (gate_ == nullptr && value.is_object()) gate_ = gate_in(value);
}

bool DynamicAllocation::is_of_network(const Document& claim) const {
  std::vector<std::string_view> names;
  for (const std::string_view key : {"deviceClassName", "driver"}) add_texts_below(claim.value, key, names);
  const auto by_class = [&](std::string_view name) {
    return std::ranges::any_of(in_.bundle.documents, [&](const Document& document) {
      if (document.kind != "DeviceClass" || document.name != name) return false;
      std::vector<std::string_view> words;
      for (const std::string_view key : {"expression", "driver"}) add_texts_below(document.value, key, words);
      return std::ranges::any_of(words, is_network_class);
    });
  };
  return std::ranges::any_of(names, [&](std::string_view name) { return is_network_class(name) || by_class(name); });
}

bool DynamicAllocation::may_give_networks(const PodTemplate& pod) const {
  const Value* claims = pod.spec->find("resourceClaims");
  if (claims == nullptr || !claims->is_array()) return false;
  return std::ranges::any_of(*claims->as_array(), [&](const Value& one) {
    for (const auto& [key, kind] :
         {std::pair<std::string_view, std::string_view>{"resourceClaimTemplateName", "ResourceClaimTemplate"},
          {"resourceClaimName", "ResourceClaim"}}) {
      const std::string_view name = text_at(one, key);
      if (name.empty()) continue;
      const auto found = std::ranges::find_if(in_.bundle.documents, [&](const Document& document) {
        return document.kind == kind && document.name == name;
      });
      return found == in_.bundle.documents.end() || is_of_network(*found);
    }
    return true;
  });
}

void drop_what_claims_give(const Bundle& bundle, doc::Diagnostics& findings) {
  std::vector<std::string_view> names;
  for (const Document& document : bundle.documents)
    if (document.kind == "ResourceClaimTemplate" || document.kind == "ResourceClaim" || document.kind == "DeviceClass")
      add_texts_below(document.value, "netAttachDefName", names);
  if (names.empty()) return;
  const std::set<std::string_view> given(names.begin(), names.end());
  const ObjectIndex objects(bundle);
  std::erase_if(findings.mutable_all(), [&](const doc::Diagnostic& finding) {
    if (finding.says != doc::Says::kNoResource) return false;
    const Document* network = objects.at(finding.span);
    return network != nullptr && given.contains(network->name);
  });
}

}  // namespace railbed::check
