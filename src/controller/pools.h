// SPDX-License-Identifier: Apache-2.0
// Which nodes belong to which SriovNetworkPoolConfig, on how many of them something may be interrupted at once, and
// what is said of a pool in its condition.
//
// Why: the SR-IOV operator stops with an error where a node is in two pools, and rounds 10 % of 5 nodes down to none,
// both only in its log. Here a node in two pools is in neither, a percentage above 0 is at least one node, and each
// is said at the pool. Nodes in no pool are one of their own, with one node at once, as there.
// Threading: pure.
// Failure: none; why a pool cannot be read is in its condition.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/operator_config.h"
#include "controller/condition.h"
#include "graph/selector.h"

namespace railbed::controller {

struct PoolNode {
  std::string name;
  graph::Labels labels;
};

struct PoolMembers {
  std::vector<std::string> nodes;                          // of this pool alone, by name
  std::map<std::string, std::vector<std::string>> shared;  // nodes that other pools select, too: those pools
  friend bool operator==(const PoolMembers&, const PoolMembers&) = default;
};

struct PoolAssignments {
  std::map<std::string, PoolMembers> members;  // by the pool's key, "namespace/name"; of those that speak of nodes
  std::map<std::string, std::string> pool_of;  // by node: the pool's key; only of those in one pool
  std::vector<std::string> in_two_pools;       // by name: nothing is interrupted there
  std::vector<std::string> in_no_pool;         // by name: one at once
  friend bool operator==(const PoolAssignments&, const PoolAssignments&) = default;
};

// Whether a pool speaks of nodes: not one of ovsHardwareOffloadConfig.
bool has_nodes(const api::SriovNetworkPoolConfig& pool);
PoolAssignments pool_assignments(std::span<const PoolNode> nodes, std::span<const api::SriovNetworkPoolConfig> pools);

struct PoolLimit {
  std::optional<int> most;  // nodes at once; nothing: no limit
  std::string why;          // it is another number than a reader would expect; empty: it is not
};
PoolLimit limit_of(const std::optional<api::MaxUnavailable>& written, size_t nodes);

// The condition of a pool that counts. `rdma_modes`: what nodes report, by node.
Readiness pool_readiness(const api::SriovNetworkPoolConfig& pool, const PoolMembers& members,
                         const std::map<std::string, std::string>& rdma_modes);

// "n1, n2 and 7 more".
std::string some_of(const std::vector<std::string>& names);

}  // namespace railbed::controller
