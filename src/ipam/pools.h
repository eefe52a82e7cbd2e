// SPDX-License-Identifier: Apache-2.0
// Addresses that railbed's nodes have leased, as whereabouts' pools show them to nodes where whereabouts still runs.
//
// Why: while a fleet is switched over, both give addresses of the same ranges. Whereabouts looks at its pools alone, so
// what a node of ours may give stands there first, and what whereabouts has given is never given here. An entry of ours
// has no pod, which whereabouts' reconciler leaves alone, and an id that is of no container: no DEL takes it away. The
// id names the node and its machine. A machine writes and removes only what is its own, and puts its entry in the place
// of one that the operator has marked as ended; deploy/sharing has a policy that refuses anything else. What is another
// machine's is not available here until that one or the operator has removed it: a late removal would take it away from
// whoever had it next. Before the node was in it, an id was railbed.dev/UUID/ADDRESS: such an entry reserves the
// address for the machine as before; the operator puts the holder's id in its place (set_holder), or ends it. Every
// change is of a pool that was read, and is stored only with its resourceVersion. Threading: pure functions. Failure:
// reserve_in(), Exhausted beyond kMostInPool, since every ADD of whereabouts reads all pools.
#pragma once

#include <set>
#include <string>

#include "api/address_cell.h"
#include "api/ip_pool.h"
#include "ipam/cells.h"

namespace railbed::ipam {

inline constexpr size_t kMostInPool = 4096;

// Of an entry of ours, unlike that of any other. The holder's boot is not in it.
std::string pool_entry_id(const api::CellHolder& holder, const IpAddress& address);
// Whether railbed made it, for whichever machine.
bool is_ours(const api::IpPoolAllocation& allocation);

// Whether pods have addresses of it that are not among these ("namespace/name").
bool has_others(const api::IpPool& pool, const std::set<std::string>& pods_here);

// Addresses of the cell that whereabouts has given.
api::CellOffsets given_in(const api::IpPool& pool, const IpAddress& base);

// Addresses of the cell with an entry of another machine of ours, which has not ended.
api::CellOffsets of_others_in(const api::IpPool& pool, const IpAddress& base, const api::CellHolder& holder);

// What makes these addresses the holder's, as far as they are of the pool; not those that whereabouts has given, nor
// those of another machine.
Result<api::IpPoolChange> reserve_in(const api::IpPool& pool, const CellChoice& cell, const api::CellHolder& holder);
// Addresses of the pool that have an entry of ours.
CellMap entries_in(const api::IpPool& pool);
// Says of our entries of these addresses that nobody has leased them. Whoever leases one meanwhile puts its own entry
// in the place, which drop_ended() leaves alone.
api::IpPoolChange mark_ended(const api::IpPool& pool, const CellMap& addresses);
// What takes away those of these addresses that are marked.
api::IpPoolChange drop_ended(const api::IpPool& pool, const CellMap& addresses);
// Puts the holder's id into our entries of these addresses, which it has leased, where they have another one.
api::IpPoolChange set_holder(const api::IpPool& pool, const CellChoice& cell, const api::CellHolder& holder);

// What takes the machine's own entries of these addresses away.
api::IpPoolChange release_in(const api::IpPool& pool, const CellChoice& cell, const api::CellHolder& holder);
// What takes all of the machine's entries away but for those of `held`.
api::IpPoolChange release_rest(const api::IpPool& pool, const CellMap& held, const api::CellHolder& holder);

}  // namespace railbed::ipam
