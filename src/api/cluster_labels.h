// SPDX-License-Identifier: Apache-2.0
// Names in a cluster that operator and agents agree on, and whether railbed may act on a node.
//
// Why: alongside the SR-IOV operator two programs would write one node state and change the same VFs. So railbed does
// not act on a node while that operator's config daemon runs there, and what that operator wrote is taken over
// manually, node by node, with a label. railbed's operator checks this before it writes a node state, the agent before
// it changes a VF.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <string_view>

namespace railbed::api {

// On a Node: "true": railbed takes the node over; "false": it leaves the node alone.
inline constexpr std::string_view kManagedLabel = "railbed.dev/managed";

// Annotation of a policy whose pods may send management datagrams: "true".
inline constexpr std::string_view kMadAnnotation = "railbed.dev/mad";

// On a node state and on definitions: who wrote it. Without this value a node state is the SR-IOV operator's.
inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedByRailbed = "railbed";

// On a node state without a node: until when it is kept (RFC 3339).
inline constexpr std::string_view kKeepStateUntil = "sriovnetwork.openshift.io/keep-state-until";

// How pods of the SR-IOV operator are known, as label selectors.
inline constexpr std::string_view kUpstreamOperatorPods = "name=sriov-network-operator";
inline constexpr std::string_view kUpstreamDaemonPods = "app=sriov-network-config-daemon";

// The namespaces that manifests for the SR-IOV operator name: on OpenShift, beside NVIDIA's network operator,
// elsewhere. Their policies and networks are served without a change, where no SR-IOV operator runs in them.
inline constexpr std::string_view kPolicyNamespaces[] = {"openshift-sriov-network-operator", "nvidia-network-operator",
                                                         "sriov-network-operator"};

struct NodeOwnership {
  std::string_view managed;        // the Node's label kManagedLabel; empty where it has none
  bool has_state = false;          // there is a node state
  bool is_ours = false;            // which bears kManagedByRailbed
  bool upstream_daemon = false;    // a pod of the config daemon is on this node
  bool upstream_operator = false;  // its operator runs in the cluster; agents need not know
};

// Empty where railbed may write the node's state and change its VFs; else why not, for people.
std::string why_not_managed(const NodeOwnership& node);

}  // namespace railbed::api
