// SPDX-License-Identifier: Apache-2.0
// The counters of the loop over the node state, as values of the agent's metrics page (railbed_node_…).
//
// Why: whether a node matches its policies, and since when it does not, must be visible without querying each node.
// Threading: pure.
// Failure: none.
#pragma once

#include <vector>

#include "agent/cluster/node_states.h"
#include "agent/context/metrics.h"

namespace railbed::agent {

std::vector<Sample> node_samples(const NodeStatesCounters& now);

}  // namespace railbed::agent
