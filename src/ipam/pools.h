// SPDX-License-Identifier: Apache-2.0
// Addresses that railbed's nodes have leased, as whereabouts' pools show them to nodes where whereabouts still runs.
//
// Why: while a fleet is switched over, both give addresses of the same ranges. Whereabouts looks at its pools alone, so
// what a node of ours may give stands there first, and what whereabouts has given is never given here. An entry of ours
// has no pod, which whereabouts' reconciler leaves alone, and an id that is of no container: no DEL takes it away. The
// id says which machine it is of: another one that has leased the address since puts its own in its place, and a late
// removal does not take that away.
// Every change is of a pool that was read, and is stored only with its resourceVersion. Threading: pure functions.
// Failure: reserve_in(), Exhausted beyond kMostInPool, since every ADD of whereabouts reads all pools.
#pragma once

#include <set>
#include <string>

#include "api/address_cell.h"
#include "api/ip_pool.h"
#include "ipam/cells.h"

namespace railbed::ipam {

inline constexpr size_t kMostInPool = 4096;

// Of an entry of ours, unlike that of any other.
std::string pool_entry_id(const std::string& system_uuid, const IpAddress& address);
// Whether railbed made it, for whichever machine.
bool is_ours(const api::IpPoolAllocation& allocation);

// Whether pods have addresses of it that are not among these ("namespace/name").
bool has_others(const api::IpPool& pool, const std::set<std::string>& pods_here);

// Addresses of the cell that whereabouts has given.
api::CellOffsets given_in(const api::IpPool& pool, const IpAddress& base);

// What makes these addresses ours, as far as they are of the pool; not those that whereabouts has given.
Result<api::IpPoolChange> reserve_in(const api::IpPool& pool, const CellChoice& cell, const std::string& system_uuid);
// Addresses of the pool that have an entry of ours.
CellMap entries_in(const api::IpPool& pool);
// Says of our entries of these addresses that nobody has leased them. Whoever leases one meanwhile puts its own entry
// in the place, which drop_ended() leaves alone.
api::IpPoolChange mark_ended(const api::IpPool& pool, const CellMap& addresses);
// What takes away those of these addresses that are marked.
api::IpPoolChange drop_ended(const api::IpPool& pool, const CellMap& addresses);

// What takes the machine's own entries of these addresses away.
api::IpPoolChange release_in(const api::IpPool& pool, const CellChoice& cell, const std::string& system_uuid);
// What takes all of the machine's entries away but for those of `held`.
api::IpPoolChange release_rest(const api::IpPool& pool, const CellMap& held, const std::string& system_uuid);

}  // namespace railbed::ipam
