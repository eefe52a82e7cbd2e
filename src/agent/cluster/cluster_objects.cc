// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cluster_objects.h"

#include <algorithm>

#include "doc/members.h"

namespace railbed::agent {
namespace {

using doc::Value;

constexpr std::string_view kConfigHash = "kubernetes.io/config.hash";
constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kAnnotationsOfNetworks[] = {"k8s.v1.cni.cncf.io/", "v1.multus-cni.io/",
                                                       "kubernetes.io/config."};

void keep_metadata(Value& object) {
  Value* metadata = object.find("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  constexpr std::string_view kept[] = {"name", "namespace", "uid", "resourceVersion", "annotations"};
  std::erase_if(*metadata->as_object(),
                [&](const Value::Member& member) { return std::ranges::find(kept, member.key) == std::end(kept); });
  metadata->as_object()->shrink_to_fit();
  Value* annotations = metadata->find("annotations");
  if (annotations == nullptr || !annotations->is_object()) return;
  std::erase_if(*annotations->as_object(), [](const Value::Member& member) {
    return std::ranges::none_of(kAnnotationsOfNetworks,
                                [&](std::string_view prefix) { return member.key.starts_with(prefix); });
  });
  annotations->as_object()->shrink_to_fit();
}

// The names of what the pod's containers ask kubelet for, in limits or requests: extended resources have both, equal.
void add_requests(const Value& pod, const char* containers, std::set<std::string>& out) {
  const Value* spec = doc::object_in(pod, "spec");
  const Value::Array* all = spec != nullptr ? doc::list_in(*spec, containers) : nullptr;
  if (all == nullptr) return;
  for (const Value& container : *all)
    for (const char* part : {"resources.limits", "resources.requests"})
      if (const Value* wanted = doc::at(container, part); wanted != nullptr && wanted->is_object())
        for (const Value::Member& one : *wanted->as_object()) out.insert(one.key);
}

}  // namespace

kube::Trim pod_kept() {
  return [trim = kube::pod_trim()](Value& object) {
    trim(object);
    keep_metadata(object);
  };
}

kube::Trim network_kept() {
  return [trim = kube::keep_fields({"spec.config"})](Value& object) {
    trim(object);
    keep_metadata(object);
  };
}

bool is_pod(const Value& pod, const std::string& uid) {
  if (uid.empty() || kube::uid_of(pod) == uid) return true;
  const std::map<std::string, std::string> annotations = annotations_of(pod);
  const auto hash = annotations.find(std::string(kConfigHash));
  return annotations.contains(std::string(kMirror)) && hash != annotations.end() && hash->second == uid;
}

bool is_static_uid(std::string_view uid) {
  return uid.size() == 32 && uid.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

PodInfo pod_of(const Value& pod, const std::string& uid) {
  const kube::ObjectKey key = kube::key_of(pod);
  PodInfo out{.ns = key.ns, .name = key.name, .uid = uid, .annotations = annotations_of(pod)};
  out.api_uid = kube::uid_of(pod);
  if (out.uid.empty()) out.uid = out.api_uid;
  out.requested.emplace();
  add_requests(pod, "containers", *out.requested);
  add_requests(pod, "initContainers", *out.requested);
  return out;
}

Result<NetworkInfo> network_of(const Value& definition) {
  const kube::ObjectKey key = kube::key_of(definition);
  return read_network(key.ns, key.name, definition);
}

}  // namespace railbed::agent
