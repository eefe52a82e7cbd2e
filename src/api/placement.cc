// SPDX-License-Identifier: Apache-2.0
#include "api/placement.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/format.h"
#include "base/number.h"
#include "doc/members.h"

namespace railbed::api {

using doc::Value;

namespace {

constexpr std::string_view kNoSchedule = "NoSchedule";
constexpr std::string_view kNoExecute = "NoExecute";

// Taints that controllers set and take away as the node's condition changes, by how their keys begin.
constexpr std::string_view kPassing[] = {"node.kubernetes.io/",
                                         "node.cloudprovider.kubernetes.io/",
                                         "ToBeDeletedByClusterAutoscaler",
                                         "DeletionCandidateOfCluster",
                                         "karpenter.sh/",
                                         "node.cilium.io/agent-not-ready",
                                         "startup-taint.cluster-autoscaler.kubernetes.io/"};

std::vector<NodeRequirement> requirements_in(const Value& term, std::string_view key) {
  std::vector<NodeRequirement> out;
  const Value::Array* list = doc::list_in(term, key);
  if (list == nullptr) return out;
  for (const Value& one : *list)
    out.push_back(
        {.key = doc::text_in(one, "key"), .op = doc::text_in(one, "operator"), .values = doc::texts_in(one, "values")});
  return out;
}

// `value`: null where the node has no such label.
bool is_fulfilled(const NodeRequirement& wanted, const std::string* value) {
  const bool listed = value != nullptr && std::ranges::find(wanted.values, *value) != wanted.values.end();
  if (wanted.op == "In") return listed;
  if (wanted.op == "NotIn") return !listed;
  if (wanted.op == "Exists") return value != nullptr;
  if (wanted.op == "DoesNotExist") return value == nullptr;
  if (wanted.op != "Gt" && wanted.op != "Lt") return true;
  const auto limit = wanted.values.empty() ? std::nullopt : whole_number<int64_t>(wanted.values.front());
  const auto here = value == nullptr ? std::nullopt : whole_number<int64_t>(*value);
  if (!limit || !here) return false;
  return wanted.op == "Gt" ? *here > *limit : *here < *limit;
}

std::string lack_of(const NodeRequirement& wanted, const std::string* value) {
  std::string condition = fmt::format("{} {}", wanted.key, wanted.op);
  if (!wanted.values.empty()) condition += fmt::format(" [{}]", fmt::join(wanted.values, ", "));
  if (value == nullptr) return fmt::format("nodeAffinity wants {}, and the node has no such label", condition);
  return fmt::format("nodeAffinity wants {}, and it is \"{}\" here", condition, *value);
}

// Empty where the term fits.
std::string lack_of(const NodeTerm& term, const std::map<std::string, std::string>& labels, const std::string& node) {
  // The API: a term without conditions fits no node.
  if (term.labels.empty() && term.fields.empty()) return "a term of nodeAffinity without conditions fits no node";
  for (const NodeRequirement& wanted : term.labels) {
    const auto found = labels.find(wanted.key);
    const std::string* value = found == labels.end() ? nullptr : &found->second;
    if (!is_fulfilled(wanted, value)) return lack_of(wanted, value);
  }
  for (const NodeRequirement& wanted : term.fields)
    if (wanted.key == "metadata.name" && !is_fulfilled(wanted, &node)) return lack_of(wanted, &node);
  return "";
}

}  // namespace

Placement read_placement(const Value& pod_spec) {
  Placement out;
  if (const Value::Array* list = doc::list_in(pod_spec, "tolerations"))
    for (const Value& one : *list)
      if (one.is_object())
        out.tolerations.push_back({.key = doc::text_in(one, "key"),
                                   .op = doc::text_in(one, "operator"),
                                   .value = doc::text_in(one, "value"),
                                   .effect = doc::text_in(one, "effect")});
  const Value* required = doc::at(pod_spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  const Value::Array* terms = required == nullptr ? nullptr : doc::list_in(*required, "nodeSelectorTerms");
  if (terms != nullptr)
    for (const Value& term : *terms)
      out.affinity.push_back(
          {.labels = requirements_in(term, "matchExpressions"), .fields = requirements_in(term, "matchFields")});
  return out;
}

std::vector<Taint> read_taints(const Value& node_spec) {
  std::vector<Taint> out;
  const Value::Array* list = doc::list_in(node_spec, "taints");
  if (list == nullptr) return out;
  for (const Value& one : *list)
    if (one.is_object())
      out.push_back({.key = doc::text_in(one, "key"),
                     .value = doc::text_in(one, "value"),
                     .effect = doc::text_in(one, "effect"),
                     .span = one.span});
  return out;
}

NodeTerm read_label_selector(const Value& selector) {
  NodeTerm out{.labels = requirements_in(selector, "matchExpressions")};
  for (const auto& [key, value] : doc::text_map_at(selector, "matchLabels"))
    out.labels.push_back({.key = key, .op = "In", .values = {value}});
  return out;
}

bool is_selected(const NodeTerm& selector, const std::map<std::string, std::string>& labels) {
  return selector.labels.empty() || lack_of(selector, labels, "").empty();
}

std::string to_string(const Taint& taint) {
  return fmt::format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value, taint.effect);
}

std::string toleration_for(const Taint& taint) {
  if (taint.value.empty()) return fmt::format("{{key: {}, operator: Exists, effect: {}}}", taint.key, taint.effect);
  return fmt::format("{{key: {}, operator: Equal, value: \"{}\", effect: {}}}", taint.key, taint.value, taint.effect);
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  if (toleration.op.empty() || toleration.op == "Equal")
    return !toleration.key.empty() && toleration.value == taint.value;
  return true;
}

bool is_lasting(const Taint& taint) {
  return std::ranges::none_of(kPassing, [&](std::string_view begin) { return taint.key.starts_with(begin); });
}

const Taint* kept_off_by(std::span<const Taint> taints, std::span<const Toleration> tolerations, Assigned assigned) {
  for (const Taint& taint : taints) {
    const bool counts = taint.effect == kNoExecute || (assigned == Assigned::kNo && taint.effect == kNoSchedule);
    if (!counts || !is_lasting(taint)) continue;
    if (std::ranges::none_of(tolerations, [&](const Toleration& one) { return tolerates(one, taint); })) return &taint;
  }
  return nullptr;
}

std::string affinity_mismatch(std::span<const NodeTerm> terms, const std::map<std::string, std::string>& labels,
                              std::string_view node) {
  std::string first;
  for (const NodeTerm& term : terms) {
    std::string lack = lack_of(term, labels, std::string(node));
    if (lack.empty()) return "";
    if (first.empty()) first = std::move(lack);
  }
  return first;
}

}  // namespace railbed::api
