// SPDX-License-Identifier: Apache-2.0
// The kinds of objects that railbed reads and writes in an API server, by the table of kinds (base/kinds.h).
//
// Why: the operator and the agent work with the same kinds. Events and Leases, which only this library uses, are in
// resource.h.
// Threading: constants.
// Failure: none; a name without a row does not compile.
#pragma once

#include "kube/resource.h"

namespace railbed::kube {

inline constexpr Resource kPods = resource_of(kind_named("Pod"));
inline constexpr Resource kNodes = resource_of(kind_named("Node"));
inline constexpr Resource kNamespaces = resource_of(kind_named("Namespace"));
inline constexpr Resource kCrds = resource_of(kind_named("CustomResourceDefinition"));
inline constexpr Resource kNetworkDefinitions = resource_of(kind_named("NetworkAttachmentDefinition"));
inline constexpr Resource kPolicies = resource_of(kind_named("SriovNetworkNodePolicy"));
inline constexpr Resource kNodeStates = resource_of(kind_named("SriovNetworkNodeState"));
inline constexpr Resource kSriovNetworks = resource_of(kind_named("SriovNetwork"));
inline constexpr Resource kSriovIbNetworks = resource_of(kind_named("SriovIBNetwork"));
inline constexpr Resource kOperatorConfigs = resource_of(kind_named("SriovOperatorConfig"));
inline constexpr Resource kPoolConfigs = resource_of(kind_named("SriovNetworkPoolConfig"));
inline constexpr Resource kAdmissionPolicies = resource_of(kind_named("ValidatingAdmissionPolicy"));
inline constexpr Resource kAdmissionPolicyBindings = resource_of(kind_named("ValidatingAdmissionPolicyBinding"));
// What an object says: api/address_cell.h.
inline constexpr Resource kAddressCells = resource_of(kind_named("AddressCell"));
// Of whereabouts; what an IPPool says: api/ip_pool.h.
inline constexpr Resource kIpPools = resource_of(kind_named("IPPool"));
inline constexpr Resource kNodeSlicePools = resource_of(kind_named("NodeSlicePool"));

}  // namespace railbed::kube
