// SPDX-License-Identifier: Apache-2.0
#include "api/kinds.h"

#include <algorithm>
#include <array>
#include <vector>

#include "doc/diagnostic.h"

namespace railbed::api {

namespace {
constexpr std::string_view kSriov = "sriovnetwork.openshift.io/v1";

constexpr Kind kRead[] = {
    {"SriovNetworkNodePolicy", kSriov, Reading::kPolicy},
    {"SriovNetwork", kSriov, Reading::kNetwork},
    {"SriovIBNetwork", kSriov, Reading::kIbNetwork},
    {"NetworkAttachmentDefinition", "k8s.cni.cncf.io/v1", Reading::kAttachment},
    {"Pod", "v1", Reading::kPod},
    {"Node", "v1", Reading::kNode},
};

constexpr std::string_view kOthers[] = {
    // railbed's own
    "AddressCell",
    // the SR-IOV and NVIDIA operators'
    "SriovNetworkNodeState",
    "SriovNetworkPoolConfig",
    "SriovOperatorConfig",
    "OVSNetwork",
    "NicClusterPolicy",
    "NicNodePolicy",
    "HostDeviceNetwork",
    "MacvlanNetwork",
    "IPoIBNetwork",
    "NicConfigurationTemplate",
    "NicDevice",
    "ClusterPolicy",
    "NVIDIADriver",
    "NodeFeatureDiscovery",
    "NodeFeature",
    "NodeFeatureRule",
    "IPPool",
    "CIDRPool",
    "NodeSlicePool",
    "OverlappingRangeIPReservation",
    "MachineConfig",
    "MachineConfigPool",
    "Subscription",
    "OperatorGroup",
    "CatalogSource",
    // workloads
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "PodTemplate",
    "LLMInferenceService",
    "InferenceService",
    "LeaderWorkerSet",
    "JobSet",
    "PyTorchJob",
    "MPIJob",
    "RayCluster",
    "RayJob",
    "RayService",
    "TrainJob",
    // the rest of a cluster
    "ConfigMap",
    "Secret",
    "Namespace",
    "Service",
    "ServiceAccount",
    "Endpoints",
    "EndpointSlice",
    "Event",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "ResourceQuota",
    "LimitRange",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "PriorityClass",
    "RuntimeClass",
    "NetworkPolicy",
    "Ingress",
    "IngressClass",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "DeviceClass",
    "ResourceSlice",
    "Lease",
    "APIService",
    "SecurityContextConstraints",
    "Kustomization",
};
}  // namespace

const Kind* find_kind(std::string_view name) {
  static constexpr auto kOther = [] {
    std::array<Kind, std::size(kOthers)> kinds;
    std::ranges::transform(kOthers, kinds.begin(),
                           [](std::string_view kind) { return Kind{kind, "", Reading::kOther}; });
    return kinds;
  }();
  const auto read = std::ranges::find(kRead, name, &Kind::name);
  if (read != std::end(kRead)) return read;
  const auto other = std::ranges::find(kOther, name, &Kind::name);
  return other == kOther.end() ? nullptr : &*other;
}

namespace {
// Whether `whole` has all letters of `part` in their order, and few others.
bool is_shortened(std::string_view part, std::string_view whole) {
  if (part.size() < 5 || whole.size() < part.size() || whole.size() - part.size() > 6) return false;
  size_t found = 0;
  for (char c : whole)
    if (found < part.size() && c == part[found]) ++found;
  return found == part.size();
}
}  // namespace

std::string nearest_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Kind& kind : kRead) names.push_back(kind.name);
  names.insert(names.end(), std::begin(kOthers), std::end(kOthers));
  if (name.ends_with("ies"))  // a plural
    if (const std::string singular = std::string(name.substr(0, name.size() - 3)) + "y"; find_kind(singular))
      return singular;
  if (std::string near = doc::nearest(name, names); !near.empty()) return near;
  for (std::string_view known : names)
    if (is_shortened(name, known)) return std::string(known);
  return "";
}

}  // namespace railbed::api
