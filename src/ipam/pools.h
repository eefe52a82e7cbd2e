// SPDX-License-Identifier: Apache-2.0
// The leased addresses of railbed's nodes, as entries in whereabouts' pools for nodes where whereabouts still runs.
//
// Why: while a fleet is switched over, both allocate addresses of the same ranges. Whereabouts reads only its pools, so
// addresses that a railbed node may allocate are reserved there first, and addresses that whereabouts has allocated are
// never allocated here. railbed's entries have no pod, so whereabouts' reconciler ignores them, and an id that belongs
// to no container: no DEL removes them. The id names the node and its machine. A machine writes and removes only its
// own entries, and replaces one that the operator has marked as ended; deploy/sharing has a policy that denies anything
// else. An address in another machine's entry is not available here until that machine or the operator has removed the
// entry: a late removal would take it from its next holder. In earlier versions, without the node, an id was
// railbed.dev/UUID/ADDRESS: such an entry still reserves the address for the machine; the operator replaces it with the
// holder's id (set_holder), or ends it. Every change is based on a pool that was read, and is stored only with its
// resourceVersion.
// Threading: pure functions.
// Failure: reserve_in(), Exhausted beyond kMostInPool, since every ADD of whereabouts reads all pools.
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
// Says of our entries of these addresses that they are not leased. An agent that leases one meanwhile puts its own
// entry in the place, which drop_ended() leaves alone.
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
