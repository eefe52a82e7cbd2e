// SPDX-License-Identifier: Apache-2.0
// The kinds of objects that railbed reads and writes in an API server.
//
// Why: the operator and the agent work with the same kinds. Events and Leases, which only this library uses, are in
// resource.h.
// Threading: constants.
// Failure: none.
#pragma once

#include "kube/resource.h"

namespace railbed::kube {

inline constexpr Resource kPods{"", "v1", "pods", "Pod"};
inline constexpr Resource kNodes{"", "v1", "nodes", "Node", Scope::kCluster};
inline constexpr Resource kNamespaces{"", "v1", "namespaces", "Namespace", Scope::kCluster};
inline constexpr Resource kCrds{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
                                Scope::kCluster};
inline constexpr Resource kNetworkDefinitions{"k8s.cni.cncf.io", "v1", "network-attachment-definitions",
                                              "NetworkAttachmentDefinition"};
inline constexpr Resource kPolicies{"sriovnetwork.openshift.io", "v1", "sriovnetworknodepolicies",
                                    "SriovNetworkNodePolicy"};
inline constexpr Resource kNodeStates{"sriovnetwork.openshift.io", "v1", "sriovnetworknodestates",
                                      "SriovNetworkNodeState"};
inline constexpr Resource kSriovNetworks{"sriovnetwork.openshift.io", "v1", "sriovnetworks", "SriovNetwork"};
inline constexpr Resource kSriovIbNetworks{"sriovnetwork.openshift.io", "v1", "sriovibnetworks", "SriovIBNetwork"};
inline constexpr Resource kAdmissionPolicies{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
                                             "ValidatingAdmissionPolicy", Scope::kCluster};
inline constexpr Resource kAdmissionPolicyBindings{"admissionregistration.k8s.io", "v1",
                                                   "validatingadmissionpolicybindings",
                                                   "ValidatingAdmissionPolicyBinding", Scope::kCluster};
// What an object says: api/address_cell.h.
inline constexpr Resource kAddressCells{"railbed.dev", "v1", "addresscells", "AddressCell", Scope::kCluster};
// Of whereabouts; what an IPPool says: api/ip_pool.h.
inline constexpr Resource kIpPools{"whereabouts.cni.cncf.io", "v1alpha1", "ippools", "IPPool"};
inline constexpr Resource kNodeSlicePools{"whereabouts.cni.cncf.io", "v1alpha1", "nodeslicepools", "NodeSlicePool"};

}  // namespace railbed::kube
