// SPDX-License-Identifier: Apache-2.0
// The addresses of all pods in a set of manifests, planned over the pods of all nodes at once.
//
// Why: without an API server, machines that have the same files must compute the same result, so each of them plans for
// the pods of all. `up` and the agent call the same functions; they differ only in which IPAM types are planned.
// Threading: pure functions over values.
// Failure: of one interface, in its entry of the result.
#pragma once

#include <map>
#include <vector>

#include "graph/catalog.h"
#include "ipam/assign.h"

namespace railbed::node {

enum class PlannedTypes : uint8_t {
  // `up` without an agent: what is not planned would not be allocated.
  kAll,
  // The agent, and `up` beside it: host-local and dhcp are this machine's own, and are asked when a pod is attached.
  kSameOnAllMachines,
};

using PlannedAddresses = std::map<ipam::Owner, Result<std::vector<ipam::Assigned>>>;

// What the interfaces of all pods want, in the order of the manifests. A network whose ipam cannot be read is left out:
// attaching a pod to it says why.
std::vector<ipam::AddressClaim> address_claims(const graph::Catalog& catalog, PlannedTypes types);

// Leases of a pod's sandbox count as the pod's own.
PlannedAddresses planned_addresses(const std::vector<ipam::AddressClaim>& claims,
                                   std::vector<state::AddressLease> leases);

// The leases, in the pods' names, that the store lacks for the plan to come out the same next time, also with more
// files.
std::vector<state::AddressLease> missing_leases(const PlannedAddresses& planned,
                                                const std::vector<state::AddressLease>& leases);

}  // namespace railbed::node
