// SPDX-License-Identifier: Apache-2.0
// A complete plan for one node, for tests: graph::index, graph::resolve, make_plan, check_pods, graph::check_across.
#pragma once

#include "graph/catalog.h"
#include "graph/graph.h"
#include "plan/plan.h"

namespace railbed::plan {

inline NodePlan plan_node(const api::Objects& objects, const facts::NodeFacts& facts, const InUse& in_use,
                          const graph::Options& graph_options, const Options& options, doc::Diagnostics& diagnostics) {
  const graph::Catalog catalog = graph::index(objects, graph_options, diagnostics);
  const graph::Graph resolved = graph::resolve(catalog, facts, diagnostics);
  graph::check_across({&resolved, 1}, diagnostics);
  NodePlan plan = make_plan(resolved, in_use, options);
  check_pods(resolved, plan, diagnostics);
  return plan;
}

}  // namespace railbed::plan
