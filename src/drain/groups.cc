// SPDX-License-Identifier: Apache-2.0
#include "drain/groups.h"

#include <algorithm>

#include "base/format.h"

namespace railbed::drain {
namespace {

constexpr std::string_view kOnePod = "Pod ";
constexpr int kLongestChain = 8;

constexpr std::string_view kLwsGroupKey = "leaderworkerset.sigs.k8s.io/group-key";
constexpr std::string_view kLwsName = "leaderworkerset.sigs.k8s.io/name";

struct GroupLabel {
  std::string_view label;
  std::string_view kind;  // for people
};
// The outermost first: a pod of a JobSet has the label of its Job, too.
constexpr GroupLabel kGroupLabels[] = {
    {"training.kubeflow.org/job-name", "training job"},
    {"jobset.sigs.k8s.io/jobset-name", "JobSet"},
    {"ray.io/cluster", "RayCluster"},
    {"batch.kubernetes.io/job-name", "Job"},
};

struct GroupKind {
  std::string_view group;
  std::string_view kind;
};
// All pods below the outermost of these in a chain of owners are one group.
constexpr GroupKind kGroupKinds[] = {
    {"batch", "Job"},
    {"jobset.x-k8s.io", "JobSet"},
    {"kubeflow.org", "MPIJob"},
    {"kubeflow.org", "PyTorchJob"},
    {"kubeflow.org", "TFJob"},
    {"kubeflow.org", "XGBoostJob"},
    {"kubeflow.org", "PaddleJob"},
    {"kubeflow.org", "JAXJob"},
    {"trainer.kubeflow.org", "TrainJob"},
    {"ray.io", "RayCluster"},
    {"batch.volcano.sh", "Job"},
};

bool is_group_kind(const OwnerRef& owner) {
  return std::ranges::any_of(kGroupKinds,
                             [&](const GroupKind& row) { return row.group == owner.group && row.kind == owner.kind; });
}

const std::string* label_of(const DrainPod& pod, std::string_view key) {
  const auto found = pod.labels.find(std::string(key));
  return found == pod.labels.end() || found->second.empty() ? nullptr : &found->second;
}

std::string named(std::string_view kind, const std::string& ns, const std::string& name) {
  return fmt::format("{} {}/{}", kind, ns, name);
}

// From the pod's own owner outwards, as far as the owners are known.
std::vector<OwnerRef> chain_of(const DrainPod& pod, const OwnerIndex& owners) {
  std::vector<OwnerRef> chain;
  std::optional<OwnerRef> next = pod.owner;
  while (next.has_value() && std::ssize(chain) < kLongestChain) {
    chain.push_back(*next);
    const auto known = owners.find(next->uid);
    next = known == owners.end() ? std::nullopt : known->second.owner;
  }
  return chain;
}

// A Deployment's ReplicaSet is named after it and the hash that its pods have as a label.
std::string service_of(const DrainPod& pod, const std::vector<OwnerRef>& chain) {
  if (chain.empty()) return "";
  const OwnerRef& last = chain.back();
  const std::string* hash = label_of(pod, "pod-template-hash");
  if (last.kind == "ReplicaSet" && hash != nullptr && last.name.ends_with("-" + *hash))
    return named("Deployment", pod.ns, last.name.substr(0, last.name.size() - hash->size() - 1));
  return named(last.kind, pod.ns, last.name);
}

}  // namespace

bool is_group(std::string_view unit) {
  return !unit.empty() && !unit.starts_with(kOnePod);
}

Unit group_of(const DrainPod& pod, const OwnerIndex& owners) {
  if (const std::string* group = label_of(pod, kGroupLabel))
    return {.name = named("group", pod.ns, *group), .together = true};
  if (const std::string* key = label_of(pod, kLwsGroupKey)) {
    const std::string* set = label_of(pod, kLwsName);
    return {.name = named("LeaderWorkerSet group", pod.ns, set == nullptr ? *key : fmt::format("{}/{}", *set, *key)),
            .spread = set == nullptr ? "" : named("LeaderWorkerSet", pod.ns, *set),
            .together = true};
  }
  for (const GroupLabel& row : kGroupLabels)
    if (const std::string* name = label_of(pod, row.label))
      return {.name = named(row.kind, pod.ns, *name), .together = true};
  const std::vector<OwnerRef> chain = chain_of(pod, owners);
  for (auto owner = chain.rbegin(); owner != chain.rend(); ++owner)
    if (is_group_kind(*owner)) return {.name = named(owner->kind, pod.ns, owner->name), .together = true};
  // A pod of a DaemonSet belongs to its node: the pool's bound is its limit.
  const bool is_daemon = pod.owner.has_value() && pod.owner->kind == "DaemonSet";
  return {.name = fmt::format("{}{}/{}", kOnePod, pod.ns, pod.name), .spread = is_daemon ? "" : service_of(pod, chain)};
}

void set_units(Affected& affected, const std::vector<DrainPod>& pods, const OwnerIndex& owners) {
  std::map<std::string_view, AffectedPod*> by_uid;
  for (AffectedPod& pod : affected.pods) by_uid[pod.uid] = &pod;
  for (const DrainPod& pod : pods) {
    const auto found = by_uid.find(pod.uid);
    if (found == by_uid.end()) continue;
    Unit unit = group_of(pod, owners);
    found->second->unit = std::move(unit.name);
    found->second->spread = std::move(unit.spread);
  }
}

}  // namespace railbed::drain
