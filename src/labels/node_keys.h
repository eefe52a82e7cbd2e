// SPDX-License-Identifier: Apache-2.0
// The keys that railbed writes on Nodes: labels and annotations, each with its reason and its other writers.
//
// Why: policies, DaemonSets and pods select nodes by labels, and on a cluster without node feature discovery (NFD) no
// component writes them. One table, because four places must agree: what is computed (node_labels.h), what is changed
// (label_changes.h), the admission policy that limits agents to these keys (deploy/sharing/node-labels.yaml), and
// docs/labels.md. Tests compare the last two with the table.
// Threading: constants and pure functions.
// Failure: none.
// Source: NFD's sources network, pci and custom, and its list of labels on Nodes; Kubernetes, "Labels and Selectors".
#pragma once

#include <cstdint>
#include <string_view>

namespace railbed::labels {

enum class KeyKind : uint8_t { kLabel, kAnnotation };

struct NodeKey {
  std::string_view name;  // '*' is for four hexadecimal digits
  KeyKind kind = KeyKind::kLabel;
  std::string_view values;     // for people
  std::string_view why;        // who selects by it, or reads it
  std::string_view elsewhere;  // who else writes it; empty: no one
};

inline constexpr std::string_view kFeaturePrefix = "feature.node.kubernetes.io/";
inline constexpr std::string_view kNvidiaRoceLabel = "network.nvidia.com/roce";
inline constexpr std::string_view kRailsLabel = "railbed.dev/rails";
inline constexpr std::string_view kFabricLabel = "railbed.dev/fabric";
inline constexpr std::string_view kLinkLayerLabel = "railbed.dev/link-layer";
inline constexpr std::string_view kMeasuredLabel = "railbed.dev/measured-gbps";
inline constexpr std::string_view kMeasuredAtAnnotation = "railbed.dev/measured-at";
// Which labels railbed wrote on the Node itself: label_changes.h.
inline constexpr std::string_view kWrittenAnnotation = "railbed.dev/written-labels";

inline constexpr NodeKey kNodeKeys[] = {
    {"feature.node.kubernetes.io/network-sriov.capable", KeyKind::kLabel, "true",
     "policies of the SR-IOV operators select nodes by it", "NFD; administrators on clusters without NFD"},
    {"feature.node.kubernetes.io/network-sriov.configured", KeyKind::kLabel, "true",
     "pods that need VFs which exist already", "NFD"},
    {"feature.node.kubernetes.io/pci-*.present", KeyKind::kLabel, "true",
     "policies and DaemonSets of NVIDIA's network operator select nodes by pci-15b3.present",
     "NFD with deviceLabelFields [vendor]; the NodeFeatureRule of NVIDIA's network operator"},
    {"feature.node.kubernetes.io/rdma.capable", KeyKind::kLabel, "true", "DaemonSets of shared RDMA device plugins",
     "NFD, by its version"},
    {"feature.node.kubernetes.io/rdma.available", KeyKind::kLabel, "true", "DaemonSets of shared RDMA device plugins",
     "NFD, by its version"},
    {"feature.node.kubernetes.io/custom-rdma.capable", KeyKind::kLabel, "true",
     "DaemonSets of shared RDMA device plugins", "NFD, by its version"},
    {"feature.node.kubernetes.io/custom-rdma.available", KeyKind::kLabel, "true",
     "DaemonSets of shared RDMA device plugins", "NFD, by its version"},
    {kNvidiaRoceLabel, KeyKind::kLabel, "true", "inference services that are documented for RoCE select nodes by it",
     "administrators"},
    {kRailsLabel, KeyKind::kLabel, "a number from 1", "jobs that need nodes with all rails (operator Gt of affinities)",
     ""},
    {kFabricLabel, KeyKind::kLabel, "infiniband, roce, mixed", "jobs and policies for one fabric", ""},
    {kLinkLayerLabel, KeyKind::kLabel, "infiniband, ethernet, mixed", "policies with linkType", ""},
    {kMeasuredLabel, KeyKind::kLabel, "Gb/s, a whole number", "jobs that need measured rails (operator Gt)", ""},
    {kMeasuredAtAnnotation, KeyKind::kAnnotation, "RFC 3339", "when the label beside it was measured", ""},
    {kWrittenAnnotation, KeyKind::kAnnotation, "JSON", "railbed removes only what it has written", ""},
};

// Whether `name` is such a name: equal, or with four hexadecimal digits (lower case) for '*'.
bool fits(std::string_view name, const NodeKey& key);
// The row of a label or an annotation; null: railbed does not write it.
const NodeKey* find_key(std::string_view name, KeyKind kind);

}  // namespace railbed::labels
