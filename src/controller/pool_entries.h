// SPDX-License-Identifier: Apache-2.0
// Removes stale entries of agents with --whereabouts share from whereabouts' pools: entries of addresses without a
// lease. Entries of leased addresses name the holder, which is corrected here: another machine's entry is stale, from
// an earlier lease, or has the format of an earlier version (ipam/pools.h).
//
// Why here: an agent removes its own entries when it releases addresses. For a machine that no longer exists no agent
// does, whether its leases were ended by cell_reclaim or by an administrator, and whereabouts would never allocate the
// addresses again. Why in two steps: between reading the leases and writing the pool the machine may return, or another
// one may lease the address. So an entry is marked first, and then the lease is looked up again. An agent leases before
// it reads the pools, so it finds the mark and replaces the entry with its own; a marked entry whose address has a
// lease stays, and whereabouts does not allocate it. A holder that releases its lease between the look-up and the write
// leaves an entry of an address without a lease. The next call finds unfinished steps. If whereabouts' kind does not
// exist, or the operator has no right to its pools (deploy/sharing), there is nothing to do.
// Threading: one call at a time; each blocks on the API server.
// Failure: the client's, after all pools were tried.
#pragma once

#include <functional>
#include <stop_token>

#include "kube/client.h"

namespace railbed::controller {

struct PoolEntriesDependencies {
  kube::Client& reader;  // of lists
  kube::Client& writer;
  std::function<bool()> may_write;  // asked before each write
};
// How many entries are gone.
Result<size_t> take_stale_pool_entries(const PoolEntriesDependencies& deps, std::stop_token stop);

}  // namespace railbed::controller
