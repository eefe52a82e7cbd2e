// SPDX-License-Identifier: Apache-2.0
// Differences between nodes that should be equal: per rail the card, its location, firmware, link and VFs.
//
// Why: a job is as slow as its slowest rail, and a port with other firmware, half of its PCIe lanes or its card in
// another slot looks healthy on its own node. Only a comparison with its peers shows the difference.
//
// Nodes are compared with those that have the same type of GPU. Locations and slots belong to one type of server, so
// they are compared only if the GPUs are at the same addresses, or at some of them: a node that lost a GPU is still of
// its type, and its rails keep the numbers of the others. A fact that a node does not report counts as no difference.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/node_facts.h"

namespace railbed::facts {

inline constexpr std::string_view kDiffers = "differs";

struct FleetValue {
  std::string value;               // "28.39.1002", "missing"
  std::vector<std::string> nodes;  // who has it, in the order of the nodes
  friend bool operator==(const FleetValue&, const FleetValue&) = default;
};

struct FleetDifference {
  std::vector<int> rails;          // those with the same difference; empty: of the node itself
  std::string what;                // "firmware"
  std::vector<FleetValue> values;  // the commonest first
  friend bool operator==(const FleetDifference&, const FleetDifference&) = default;
};

// What the nodes of a group have on one rail; a value is empty where no node reports it, and "differs" where not all
// have it.
struct FleetRail {
  int number = 0;
  size_t nodes = 0;  // that have it
  std::string card;
  std::string place;
  std::string firmware;
  std::string rate;
  std::string pcie;
  std::string vfs;
  friend bool operator==(const FleetRail&, const FleetRail&) = default;
};

// Nodes with the same kind of GPU.
struct FleetGroup {
  std::string gpu;  // "H100 SXM5 80GB", or its ids; empty: nodes without GPUs
  std::vector<std::string> nodes;
  std::vector<FleetRail> rails;
  std::vector<FleetDifference> differences;
  friend bool operator==(const FleetGroup&, const FleetGroup&) = default;
};

std::vector<FleetGroup> compare_nodes(const std::vector<NodeFacts>& nodes);

// "firmware: 28.43.1014 on 15 nodes, 28.39.1002 on node-c", without the rails.
std::string difference_text(const FleetDifference& difference);

}  // namespace railbed::facts
