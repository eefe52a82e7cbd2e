// SPDX-License-Identifier: Apache-2.0
// Whether the scheduler may put a pod on a node, and why not.
//
// Threading: pure functions.
// Failure: none.
#pragma once

#include <optional>
#include <string>

#include "api/objects.h"
#include "graph/graph.h"

namespace railbed::graph {

struct PlacementMismatch {
  std::string why;
  bool by_taint = false;  // its nodeName, nodeSelector and nodeAffinity admit the node
};
// Nothing where it may; otherwise the first of nodeName, nodeSelector, nodeAffinity and taints that forbids it.
std::optional<PlacementMismatch> placement_mismatch(const api::Pod& pod, const Graph& graph);

}  // namespace railbed::graph
