// SPDX-License-Identifier: Apache-2.0
// Manifests and the facts of nodes, resolved: one catalog and a graph for each node.
//
// Why: this is the first half of the single path from objects to a plan; plan::make_plans is the second. `check` ends
// here; `plan`, `up`, the agent and the operator continue. All of them index the same objects, resolve each node and
// compare the nodes, in this order, and must get the same result. Facts are passed in by the caller.
// Threading: created by one thread, read by any. It points into the objects and the facts, which must outlive it, and
// is not movable, because its graphs point into its catalog.
// Failure: none; findings go to the diagnostics.
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
