// SPDX-License-Identifier: Apache-2.0
// Takes out of whereabouts' pools what agents with --whereabouts share have left there: entries of addresses that
// nobody has leased. Entries of addresses that are leased name who leased them, which is put right here: another
// machine's entry is left from an earlier lease, or has the form of an earlier version (ipam/pools.h).
//
// Why here: an agent takes its own entries away when it gives addresses back. For a machine that is gone nobody does,
// whether its leases ended by cell_reclaim or by an administrator's word, and whereabouts would never give them again.
// Why in two steps: the machine may come back, or another one lease the address, between a look at the leases and a
// write of the pool. So an entry is marked first, and then the lease is looked for again. An agent leases before it
// reads the pools, so it finds the mark and puts its own entry in its place; a marked entry whose address has a lease
// stays, and whereabouts does not give it. A holder that gives its lease back between the look and the write leaves an
// entry of an address that nobody has leased. What is left half-done, the next call finds.
// Where whereabouts' kind is not there, or the operator has no right to its pools (deploy/sharing), there is nothing to
// do. Threading: one call at a time; each waits for the API server. Failure: the client's, after all pools were tried.
#pragma once

#include <functional>
#include <stop_token>

#include "kube/client.h"

namespace railbed::controller {

struct PoolEntriesWorld {
  kube::Client& reader;  // of lists
  kube::Client& writer;
  std::function<bool()> may_write;  // asked before each write
};
// How many entries are gone.
Result<size_t> take_stale_pool_entries(const PoolEntriesWorld& world, std::stop_token stop);

}  // namespace railbed::controller
