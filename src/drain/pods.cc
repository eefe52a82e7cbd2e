// SPDX-License-Identifier: Apache-2.0
#include "drain/pods.h"

#include <algorithm>
#include <tuple>

#include "base/format.h"
#include "doc/members.h"

namespace railbed::drain {
namespace {

constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

bool is_nothing(const doc::Value& quantity) {
  const std::string* text = quantity.as_string();
  return quantity.is_null() || (text != nullptr && *text == "0") || (quantity.as_int() && *quantity.as_int() == 0);
}

// The API server makes requests of extended resources equal to their limits; either names them.
void add_requests(const doc::Value& spec, std::string_view list, Resources& into) {
  const doc::Value::Array* containers = doc::list_in(spec, list);
  if (containers == nullptr) return;
  for (const doc::Value& container : *containers)
    for (const char* path : {"resources.requests", "resources.limits"})
      if (const doc::Value* wanted = doc::at(container, path); wanted != nullptr && wanted->is_object())
        for (const doc::Value::Member& member : *wanted->as_object())
          if (!is_nothing(member.value)) into.insert(member.key);
}

// The names of the claims, of which those made from a template are in the status.
void add_claims(const doc::Value& pod, std::set<std::string>& into) {
  for (const auto& [part, list] : {std::pair("spec", "resourceClaims"), std::pair("status", "resourceClaimStatuses")}) {
    const doc::Value* object = doc::object_in(pod, part);
    const doc::Value::Array* items = object == nullptr ? nullptr : doc::list_in(*object, list);
    if (items == nullptr) continue;
    for (const doc::Value& item : *items)
      if (std::string name = doc::text_in(item, "resourceClaimName"); !name.empty()) into.insert(std::move(name));
  }
}

Resources wanted_by(const DrainPod& pod, const ClaimResources& claims) {
  Resources all = pod.requests;
  for (const std::string& claim : pod.claims)
    if (const auto known = claims.find(pod.ns + "/" + claim); known != claims.end())
      all.insert(known->second.begin(), known->second.end());
  return all;
}

bool is_of_daemon_set(const DrainPod& pod) {
  return pod.owner.has_value() && pod.owner->group == "apps" && pod.owner->kind == "DaemonSet";
}

struct PodVerdict {
  PodClass kind;
  std::string reason;
};

PodVerdict verdict_of(const DrainPod& pod, bool evict_bare, const std::string& what) {
  if (pod.finished) return {PodClass::kFinished, "has finished; it uses no VF"};
  if (pod.ending)
    return {PodClass::kEnding, pod.finalizers.empty() ? "is being deleted"
                                                      : fmt::format("is being deleted; waits for its finalizers {}",
                                                                    fmt::join(pod.finalizers, ", "))};
  if (pod.mirror)
    return {PodClass::kMirror, fmt::format("{}; a static pod cannot be evicted: remove its file from the node", what)};
  if (!pod.owner.has_value() && !evict_bare)
    return {PodClass::kBare, fmt::format("{}; has no controller, so an eviction deletes it for good: delete it, or set "
                                         "{}: \"true\" on the pool",
                                         what, kEvictBare)};
  if (is_of_daemon_set(pod))
    return {PodClass::kDaemon, fmt::format("{}; evicted last, its replacement waits on this node for the VFs", what)};
  return {PodClass::kEvicted, what};
}

}  // namespace

std::optional<OwnerRef> controller_of(const doc::Value& object) {
  const doc::Value* metadata = doc::object_in(object, "metadata");
  const doc::Value::Array* owners = metadata == nullptr ? nullptr : doc::list_in(*metadata, "ownerReferences");
  if (owners == nullptr) return std::nullopt;
  for (const doc::Value& owner : *owners) {
    if (!doc::flag_in(owner, "controller")) continue;
    const std::string version = doc::text_in(owner, "apiVersion");
    const size_t slash = version.find('/');
    return OwnerRef{.group = slash == std::string::npos ? "" : version.substr(0, slash),
                    .kind = doc::text_in(owner, "kind"),
                    .name = doc::text_in(owner, "name"),
                    .uid = doc::text_in(owner, "uid")};
  }
  return std::nullopt;
}

DrainPod read_drain_pod(const doc::Value& pod) {
  DrainPod out;
  if (const doc::Value* metadata = doc::object_in(pod, "metadata")) {
    out.ns = doc::text_in(*metadata, "namespace");
    out.name = doc::text_in(*metadata, "name");
    out.uid = doc::text_in(*metadata, "uid");
    out.ending = !doc::text_in(*metadata, "deletionTimestamp").empty();
    out.finalizers = doc::texts_in(*metadata, "finalizers");
    const doc::Value* annotations = doc::object_in(*metadata, "annotations");
    out.mirror = annotations != nullptr && annotations->find(kMirrorAnnotation) != nullptr;
  }
  out.labels = doc::text_map_at(pod, "metadata.labels");
  out.owner = controller_of(pod);
  if (const doc::Value* spec = doc::object_in(pod, "spec")) {
    out.node = doc::text_in(*spec, "nodeName");
    add_requests(*spec, "containers", out.requests);
    add_requests(*spec, "initContainers", out.requests);
  }
  add_claims(pod, out.claims);
  const std::string_view phase = doc::text_at(pod, "status.phase");
  out.finished = phase == "Succeeded" || phase == "Failed";
  return out;
}

Affected affected_pods(const NodeChange& change, const std::vector<DrainPod>& pods, const ClaimResources& claims) {
  Affected out;
  const bool is_reported = change.reported.has_value() && change.reported->size() <= kMostReportedPods;
  out.coarse = !is_reported && !change.resources.empty();
  for (const DrainPod& pod : pods) {
    if (pod.node != change.node || pod.uid.empty()) continue;
    Resources common;
    std::ranges::set_intersection(wanted_by(pod, claims), change.resources, std::inserter(common, common.end()));
    if (is_reported && !change.reported->contains(pod.uid)) common.clear();
    const bool ends_with_reboot = change.reboot && !pod.mirror && !is_of_daemon_set(pod);
    if (common.empty() && !ends_with_reboot) continue;
    PodVerdict verdict = verdict_of(
        pod, change.evict_bare,
        common.empty() ? "the node restarts" : fmt::format("requests {}, which changes", fmt::join(common, ", ")));
    out.pods.push_back({.ns = pod.ns,
                        .name = pod.name,
                        .uid = pod.uid,
                        .kind = verdict.kind,
                        .reason = std::move(verdict.reason),
                        .finalizers = pod.ending ? pod.finalizers : std::vector<std::string>{}});
  }
  std::ranges::sort(out.pods, {}, [](const AffectedPod& pod) { return std::tie(pod.ns, pod.name, pod.uid); });
  return out;
}

}  // namespace railbed::drain
