// SPDX-License-Identifier: Apache-2.0
// `railbed agent` in a cluster: the API server that its options name, and what the agent has of it.
//
// Threading and failure: node_cluster.h.
#pragma once

#include "node_cluster.h"

namespace railbed {

// A JoinCluster.
Result<std::unique_ptr<NodeCluster>> join_cluster(const AgentOptions& options, NodeCluster::Dependencies deps);

}  // namespace railbed
