// SPDX-License-Identifier: Apache-2.0
// What the operator's --resource-prefix and --policy-namespaces have to be for the manifests that a cluster has
// already.
//
// Why: a pod requests a resource by its full name, and a policy says only the part after the slash. With another prefix
// than the one that pods request, they stay Pending forever and nothing is wrong with any object; with policies in a
// namespace that does not count, there are no VFs at all. Both are in the cluster before railbed is installed: in
// definitions of networks, in what nodes offer, in the settings of the SR-IOV operator.
// Threading: pure.
// Failure: none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "preflight/look.h"

namespace railbed::preflight {

// Where each prefix of a policy's resource is used: "nvidia.com" → {"NetworkAttachmentDefinition ai/net", "Node gpu1"}.
using PrefixPlaces = std::map<std::string, std::set<std::string>>;
PrefixPlaces prefixes_in_use(const ClusterLook& look);

struct OperatorSettings {
  bool is_installed = false;  // railbed's operator is there, with these settings; otherwise they are the defaults
  std::string resource_prefix;
  std::set<std::string> namespaces;  // whose policies count, without regard to SR-IOV operators in them
  std::string agents_prefix;         // --resource-prefix of the agents; empty: not given
};
OperatorSettings operator_settings(const ClusterLook& look);

// Namespaces that have policies or networks and do not count. True: an SR-IOV operator is installed there.
std::map<std::string, bool> uncounted_namespaces(const ClusterLook& look, const OperatorSettings& settings);

}  // namespace railbed::preflight
