// SPDX-License-Identifier: Apache-2.0
// The node labels that node feature discovery (NFD) would set from the same facts.
//
// Why: policies select nodes by them (`feature.node.kubernetes.io/network-sriov.capable: "true"`); on a standalone
// machine no other component sets them.
// Threading: pure functions.
// Failure: none.
// Source: NFD's sources network, pci and custom (rdma rules), and the pci labels by vendor alone that network and GPU
// operators configure.
#pragma once

#include <map>
#include <string>

#include "facts/node_facts.h"

namespace railbed::facts {

std::map<std::string, std::string> implied_labels(const NodeFacts& facts);

}  // namespace railbed::facts
