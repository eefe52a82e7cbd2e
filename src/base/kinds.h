// SPDX-License-Identifier: Apache-2.0
// The kinds of the Kubernetes API that railbed knows: the only list of their groups, versions, plurals and scopes.
//
// Why one table: the paths of requests (kube/kinds.h), the parsers of manifests (api/kinds.h), the definitions in
// deploy/crds, the operator's caches and the roles in deploy/rbac refer to its rows. A row knows neither its parser nor
// its reconciler: libraries above name a row, which does not compile for a kind without one, and tests name a row
// without its parser, definition, reconciler or documentation. Kinds of which railbed knows the name alone are rows,
// too: their objects are counted and left alone.
// Threading: constants.
// Failure: none.
// Source: Kubernetes API concepts, "API terminology".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace railbed {

// Who defines a kind.
enum class KindOwner : uint8_t {
  kOurs,
  kUpstream,  // the SR-IOV operator, the Network Plumbing Working Group, whereabouts
  kKubernetes,
  kOthers,
};
enum class KindScope : uint8_t { kNamespaced, kCluster };
// Whether deploy/crds has the CustomResourceDefinition of a kind.
enum class KindDefined : uint8_t { kElsewhere, kInDeploy };

struct Kind {
  std::string_view name;
  KindOwner owner;
  // The plural is empty where railbed knows the name alone, and so are group and version.
  std::string_view group = {};  // empty: the core group
  std::string_view version = {};
  std::string_view plural = {};
  KindScope scope = KindScope::kNamespaced;
  KindDefined defined = KindDefined::kElsewhere;

  std::string api_version() const;  // "v1", "apps/v1"
};

// "v1" for the core group, else "apps/v1".
std::string api_version_of(std::string_view group, std::string_view version);

// The rows. Misspelt names are compared in this order.
struct KindTable {
  using enum KindOwner;
  using enum KindScope;
  using enum KindDefined;
  static constexpr std::string_view kSriov = "sriovnetwork.openshift.io";
  static constexpr std::string_view kWhereabouts = "whereabouts.cni.cncf.io";
  static constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
  static constexpr std::string_view kAdmission = "admissionregistration.k8s.io";

  static constexpr Kind kRows[] = {
      // read from manifests
      {"SriovNetworkNodePolicy", kUpstream, kSriov, "v1", "sriovnetworknodepolicies", kNamespaced, kInDeploy},
      {"SriovNetwork", kUpstream, kSriov, "v1", "sriovnetworks", kNamespaced, kInDeploy},
      {"SriovIBNetwork", kUpstream, kSriov, "v1", "sriovibnetworks", kNamespaced, kInDeploy},
      {"NetworkAttachmentDefinition", kUpstream, "k8s.cni.cncf.io", "v1", "network-attachment-definitions", kNamespaced,
       kInDeploy},
      {"Pod", kKubernetes, "", "v1", "pods"},
      {"Node", kKubernetes, "", "v1", "nodes", kCluster},
      // railbed's own
      {"AddressCell", kOurs, "railbed.dev", "v1", "addresscells", kCluster, kInDeploy},
      // the SR-IOV and NVIDIA operators'
      {"SriovNetworkNodeState", kUpstream, kSriov, "v1", "sriovnetworknodestates", kNamespaced, kInDeploy},
      {"SriovNetworkPoolConfig", kUpstream, kSriov, "v1", "sriovnetworkpoolconfigs", kNamespaced, kInDeploy},
      {"SriovOperatorConfig", kUpstream, kSriov, "v1", "sriovoperatorconfigs", kNamespaced, kInDeploy},
      {"OVSNetwork", kUpstream},
      {"NicClusterPolicy", kOthers},
      {"NicNodePolicy", kOthers},
      {"HostDeviceNetwork", kOthers},
      {"MacvlanNetwork", kOthers},
      {"IPoIBNetwork", kOthers},
      {"NicConfigurationTemplate", kOthers},
      {"NicDevice", kOthers},
      {"ClusterPolicy", kOthers},
      {"NVIDIADriver", kOthers},
      {"NodeFeatureDiscovery", kOthers},
      {"NodeFeature", kOthers},
      {"NodeFeatureRule", kOthers},
      {"IPPool", kUpstream, kWhereabouts, "v1alpha1", "ippools"},  // nv-ipam has a kind of this name, too
      {"CIDRPool", kOthers},
      {"NodeSlicePool", kUpstream, kWhereabouts, "v1alpha1", "nodeslicepools"},
      {"OverlappingRangeIPReservation", kUpstream},
      {"MachineConfig", kOthers},
      {"MachineConfigPool", kOthers},
      {"Subscription", kOthers},
      {"OperatorGroup", kOthers},
      {"CatalogSource", kOthers},
      // workloads
      {"Deployment", kKubernetes, "apps", "v1", "deployments"},
      {"StatefulSet", kKubernetes},
      {"DaemonSet", kKubernetes, "apps", "v1", "daemonsets"},
      {"ReplicaSet", kKubernetes},
      {"ReplicationController", kKubernetes},
      {"Job", kKubernetes},
      {"CronJob", kKubernetes},
      {"PodTemplate", kKubernetes},
      {"LLMInferenceService", kOthers},
      {"InferenceService", kOthers},
      {"LeaderWorkerSet", kOthers},
      {"JobSet", kOthers},
      {"PyTorchJob", kOthers},
      {"MPIJob", kOthers},
      {"RayCluster", kOthers},
      {"RayJob", kOthers},
      {"RayService", kOthers},
      {"TrainJob", kOthers},
      // the rest of a cluster
      {"ConfigMap", kKubernetes, "", "v1", "configmaps"},
      {"Secret", kKubernetes},
      {"Namespace", kKubernetes, "", "v1", "namespaces", kCluster},
      {"Service", kKubernetes},
      {"ServiceAccount", kKubernetes, "", "v1", "serviceaccounts"},
      {"Endpoints", kKubernetes},
      {"EndpointSlice", kKubernetes},
      {"Event", kKubernetes, "events.k8s.io", "v1", "events"},
      {"PersistentVolume", kKubernetes},
      {"PersistentVolumeClaim", kKubernetes},
      {"StorageClass", kKubernetes},
      {"ResourceQuota", kKubernetes},
      {"LimitRange", kKubernetes},
      {"Role", kKubernetes, kRbac, "v1", "roles"},
      {"RoleBinding", kKubernetes, kRbac, "v1", "rolebindings"},
      {"ClusterRole", kKubernetes, kRbac, "v1", "clusterroles", kCluster},
      {"ClusterRoleBinding", kKubernetes, kRbac, "v1", "clusterrolebindings", kCluster},
      {"CustomResourceDefinition", kKubernetes, "apiextensions.k8s.io", "v1", "customresourcedefinitions", kCluster},
      {"MutatingWebhookConfiguration", kKubernetes},
      {"ValidatingWebhookConfiguration", kKubernetes},
      {"PriorityClass", kKubernetes},
      {"RuntimeClass", kKubernetes},
      {"NetworkPolicy", kKubernetes},
      {"Ingress", kKubernetes},
      {"IngressClass", kKubernetes},
      {"HorizontalPodAutoscaler", kKubernetes},
      {"PodDisruptionBudget", kKubernetes},
      {"ResourceClaim", kKubernetes},
      {"ResourceClaimTemplate", kKubernetes},
      {"DeviceClass", kKubernetes},
      {"ResourceSlice", kKubernetes},
      {"Lease", kKubernetes, "coordination.k8s.io", "v1", "leases"},
      {"APIService", kKubernetes},
      {"SecurityContextConstraints", kOthers},
      {"Kustomization", kOthers},
      {"ValidatingAdmissionPolicy", kKubernetes, kAdmission, "v1", "validatingadmissionpolicies", kCluster},
      {"ValidatingAdmissionPolicyBinding", kKubernetes, kAdmission, "v1", "validatingadmissionpolicybindings",
       kCluster},
      {"SubjectAccessReview", kKubernetes, "authorization.k8s.io", "v1", "subjectaccessreviews", kCluster},
  };
};

constexpr std::span<const Kind> kinds() {
  return KindTable::kRows;
}

// Null for a kind that railbed does not know.
constexpr const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

// A row with all of its facts. A name without such a row does not compile.
consteval const Kind& kind_named(std::string_view name) {
  for (const Kind& kind : KindTable::kRows)
    if (kind.name == name && !kind.plural.empty()) return kind;
  throw "KindTable has no such row with all of its facts";
}

}  // namespace railbed
