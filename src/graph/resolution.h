// SPDX-License-Identifier: Apache-2.0
// Manifests and the facts of nodes, resolved: one catalog and a graph for each node.
//
// Why: this is the first half of the one way from objects to a plan; plan::make_plans is the second. `check` ends here;
// `plan`, `up`, the agent and the operator go on. All of them index the same objects, resolve each node and look across
// the nodes, in this order, and must come to the same answer. Facts are passed in: whoever calls this has read them.
// Threading: made by one thread, read by any. It points into the objects and the facts, which must outlive it, and
// stays where it was made, because its graphs point into its catalog. Failure: none; findings go to the diagnostics.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace railbed::graph {

// Whether findings say which pods are for none of the nodes, or could run on several of them. `up` knows one machine
// of many and lists the pods of the others in its report.
enum class PodPlacement : uint8_t { kChecked, kNotChecked };

struct Resolution {
  Resolution(const api::Objects& objects, std::span<const facts::NodeFacts> nodes, const Options& options,
             PodPlacement placement, doc::Diagnostics& diagnostics);
  Resolution(const Resolution&) = delete;
  Resolution& operator=(const Resolution&) = delete;

  const api::Objects& objects;
  std::span<const facts::NodeFacts> nodes;
  Catalog catalog;
  std::vector<Graph> graphs;  // as `nodes`
};

}  // namespace railbed::graph
