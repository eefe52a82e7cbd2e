// SPDX-License-Identifier: Apache-2.0
// Whether this agent may allocate addresses of whereabouts' ranges.
//
// Why: such a range belongs to all nodes of a cluster, and the original queries the API server for the allocations of
// the other nodes. An agent that serves a node of a cluster allocates only addresses that it has leased
// (cluster/cell_blocks.h), and refuses only what whereabouts divides in its own way. Any other agent knows only its own
// allocations: on a machine of a cluster it would give a second pod an address that a pod of another node has, so it
// refuses, unless the node has blocks of the pool (the table `block` of the state) or `railbed agent --alone` declares
// that no other node uses its ranges. host-local's ranges belong to each node alone.
// Threading: as the arguments'.
// Failure: Conflict with the sign that was found, and what to do.
#pragma once

#include "agent/engine.h"
#include "api/ipam.h"
#include "cni/error.h"
#include "doc/value.h"

namespace railbed::agent {

// `ipam` is the block that `config` was read from.
Result<void> may_give_ranges(Engine::Turn& turn, const api::IpamConfig& config, const doc::Value& ipam,
                             const std::string& network);

// The answer of STATUS, for a plugin's "ipam" (null: none): 50 where an ADD would be refused. Ready while the engine is
// busy, and for an "ipam" that cannot be read.
Result<void> ranges_ready(Engine& engine, const doc::Value* ipam, const std::string& network);

}  // namespace railbed::agent
