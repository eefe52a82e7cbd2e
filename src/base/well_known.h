// SPDX-License-Identifier: Apache-2.0
// Names that others look for, and that several libraries read or write: annotations, labels, resources, API versions.
//
// Why: a name that is written in two places is misspelt in one of them, and a cluster says nothing: the annotation is
// ignored, no node has the label.
// Threading: constants. Failure: none.
// Source: the network-plumbing group's NetworkAttachmentDefinition specification 1.3, Kubernetes' "Well-Known Labels",
// node-feature-discovery, the device plugins' resources.
#pragma once

namespace railbed {

// Of pods.
inline constexpr const char* kNetworksAnnotation = "k8s.v1.cni.cncf.io/networks";
inline constexpr const char* kNetworkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status";
inline constexpr const char* kDefaultNetworkAnnotation = "v1.multus-cni.io/default-network";
// Of networks: the resource whose devices they take.
inline constexpr const char* kResourceAnnotation = "k8s.v1.cni.cncf.io/resourceName";

// Of nodes.
inline constexpr const char* kHostnameLabel = "kubernetes.io/hostname";
inline constexpr const char* kSriovCapableLabel = "feature.node.kubernetes.io/network-sriov.capable";

inline constexpr const char* kNvidiaGpuResource = "nvidia.com/gpu";

// Of the documents that railbed itself defines: facts, plans, results, settings.
inline constexpr const char* kOwnApiVersion = "railbed.dev/v1";

}  // namespace railbed
