// SPDX-License-Identifier: Apache-2.0
// Manifests resolved against this machine, and the devices that its pods hold.
//
// Why: `up`, the agent and the checks before a run need the graph and the plan of one machine for a while; this holds
// them with the facts that they point into. It is built from values: its creator has read the kernel and the state,
// once.
// Threading: one owner; it must not be moved.
// Failure: none; errors are in `diagnostics`.
#pragma once

#include <memory>
#include <set>
#include <utility>

#include "apply/apply.h"
#include "graph/resolution.h"
#include "plan/plan.h"
#include "state/store.h"

namespace railbed::node {

struct Resolved {
  // `objects` must outlive this.
  Resolved(const api::Objects& objects, facts::NodeFacts facts, const plan::InUse& in_use,
           const graph::Options& options, const plan::Options& planning,
           graph::PodPlacement placement = graph::PodPlacement::kNotChecked);

  const facts::NodeFacts facts;
  doc::Diagnostics diagnostics;
  const graph::Resolution resolution;
  plan::NodePlan plan;
  // VFs that the plan has steps for which failed or were not tried: no pod gets them. By PF and index.
  std::set<std::pair<PciAddress, VfIndex>> unfinished;

  const graph::Graph& graph() const { return resolution.graphs.front(); }
  const graph::Catalog& catalog() const { return resolution.catalog; }
};

std::set<std::pair<PciAddress, VfIndex>> unfinished_vfs(const plan::NodePlan& plan, const apply::Report& report);

// The VFs that the pods in the state have.
Result<plan::InUse> in_use_by(state::Store& store);

}  // namespace railbed::node
