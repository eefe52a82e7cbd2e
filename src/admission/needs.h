// SPDX-License-Identifier: Apache-2.0
// What a pod needs for its networks: devices of resources, and nodes that have them.
//
// Why: a pod without a request for a VF of its network is scheduled anywhere and never starts, and requests cannot be
// added later. The networks are counted per resource: two networks of one resource need two VFs.
// Threading: pure functions over values.
// Failure: Invalid, with a sentence for the author of the pod: it is refused.
// Spec: the network-plumbing group's NetworkAttachmentDefinition specification 1.3; the annotations of the network
// resources injector.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "doc/value.h"

namespace railbed::admission {

// On a definition: "KEY=VALUE", the label of nodes that have the network.
inline constexpr std::string_view kNodeSelectorAnnotation = "k8s.v1.cni.cncf.io/nodeSelector";
// On a pod: the container that gets the devices; absent: the first.
inline constexpr std::string_view kContainerAnnotation = "railbed.dev/container";

// What is read of a definition.
struct OfferedNetwork {
  std::string resource = {};       // with prefix; empty: it takes no device
  std::string node_selector = {};  // as annotated
  friend bool operator==(const OfferedNetwork&, const OfferedNetwork&) = default;
};
OfferedNetwork read_offered_network(const doc::Value& definition);

struct Networks {
  std::map<std::string, OfferedNetwork, std::less<>> by_key;  // "namespace/name"
  // Resources whose devices a DRA driver gives: a request by name would take a second device.
  std::set<std::string, std::less<>> dra_resources = {};
  // The resources that claims and templates give, by "namespace/name".
  std::map<std::string, std::set<std::string>, std::less<>> claimed = {};
  // Labels of nodes that a definition may select by. Who writes a definition must not send others' pods to any node.
  std::set<std::string, std::less<>> node_labels = {};
  std::string default_network_namespace = "kube-system";  // of Multus
};

struct PodNeeds {
  std::map<std::string, int64_t> resources = {};          // devices, by resource
  std::map<std::string, std::string> node_selector = {};  // labels that the pod does not select by yet
  size_t container = 0;                                   // that gets what is missing
  std::vector<std::string> warnings = {};
  friend bool operator==(const PodNeeds&, const PodNeeds&) = default;
};

// "namespace/name" of the networks that the pod names, so that the caller can look once for one that its cache lacks.
Result<std::vector<std::string>> networks_of(const doc::Value& pod, std::string_view ns, const Networks& networks);

// `ns`: of the request, since a pod in it may have none.
Result<PodNeeds> needs_of(const doc::Value& pod, std::string_view ns, const Networks& networks);

}  // namespace railbed::admission
