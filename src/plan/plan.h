// SPDX-License-Identifier: Apache-2.0
// From a graph and the devices that pods hold to the steps for one node.
//
// Why: `plan` prints exactly what `up` and the agent apply. Rules: a VF that does not change is in no step; each VF is
// bound once, to its final driver; a change that would take a VF from a pod is deferred (unless Options::disrupt) and
// reported, never made silently.
//
// Threading: pure functions.
// Failure: none; what cannot be done is a refusal in the graph or deferred.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/resolution.h"
#include "plan/step.h"

namespace railbed::plan {

// The pod ("namespace/name") that holds each VF, by the VF's address.
using InUse = std::map<PciAddress, std::string>;

struct Options {
  bool disrupt = false;  // steps that take VFs from pods are planned, not held back
};

NodePlan make_plan(const graph::Graph& graph, const InUse& in_use, const Options& options = {});

// Findings about the pods of this node: they ask for more VFs of a resource than the plan provides, for a resource that
// nothing here provides, or for a network of the wrong link type. Ids RB-POD-….
void check_pods(const graph::Graph& graph, const NodePlan& plan, doc::Diagnostics& diagnostics);

// The second half of the one way from objects to plans: a plan for each node of the resolution, in that order, and the
// findings of check_pods.
std::vector<NodePlan> make_plans(const graph::Resolution& resolution, const InUse& in_use, const Options& options,
                                 doc::Diagnostics& diagnostics);

}  // namespace railbed::plan
