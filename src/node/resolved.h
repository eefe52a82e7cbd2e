// SPDX-License-Identifier: Apache-2.0
// Manifests resolved against this machine as it is now, and what its pods hold.
//
// Threading: one owner; made on the heap because the graph points into facts and catalog. Failure: what
// reading the state says; facts that could not be read are absent, as in facts/collect.h.
#pragma once

#include <memory>
#include <set>
#include <utility>

#include "graph/graph.h"
#include "node/standalone.h"
#include "plan/plan.h"

namespace railbed::node {

struct Resolved {
  facts::NodeFacts facts;
  graph::Catalog catalog;
  graph::Graph graph;
  plan::InUse in_use;
  plan::NodePlan plan;
  // VFs that the plan has steps for which failed or were not tried: no pod gets them. By PF and index.
  std::set<std::pair<PciAddress, VfIndex>> unfinished;
};

// `store` may be null: then nothing is in use. `objects` must outlive the result.
Result<std::unique_ptr<Resolved>> resolve(os::Kernel& kernel, state::Store* store, const api::Objects& objects,
                                          const Settings& settings, doc::Diagnostics& diagnostics);

std::set<std::pair<PciAddress, VfIndex>> unfinished_vfs(const plan::NodePlan& plan, const apply::Report& report);

// The VFs that the pods in the state have.
Result<plan::InUse> in_use_by(state::Store& store);

}  // namespace railbed::node
