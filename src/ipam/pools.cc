// SPDX-License-Identifier: Apache-2.0
#include "ipam/pools.h"

#include <algorithm>
#include <optional>

#include "base/format.h"

namespace railbed::ipam {
namespace {

using api::CellHolder;
using api::CellOffsets;
using api::IpPool;
using api::IpPoolAllocation;
using api::IpPoolChange;

constexpr std::string_view kIdStart = "railbed.dev/";

// Where an address stands in the pool; nullopt: it is none of its.
std::optional<uint64_t> place_of(const IpPool& pool, const IpAddress& address) {
  if (address.family != pool.range.address.family || !pool.range.contains(address)) return std::nullopt;
  return address.minus(pool.range.address);
}

std::string ended_id(const IpAddress& address) {
  return fmt::format("{}ended/{}", kIdStart, address);
}

bool is_ended(const IpPoolAllocation& allocation, const IpAddress& address) {
  return is_ours(allocation) && allocation.id == ended_id(address);
}

// Also as it was written before the node's name was in it.
bool is_of(const IpPoolAllocation& allocation, const CellHolder& holder, const IpAddress& address) {
  return is_ours(allocation) && (allocation.id == pool_entry_id(holder, address) ||
                                 allocation.id == fmt::format("{}{}/{}", kIdStart, holder.system_uuid, address));
}

template <typename Each>
void each_place(const IpPool& pool, const CellChoice& cell, const Each& each) {
  for (unsigned i = 0; i < api::kCellSize; ++i) {
    if ((cell.offsets >> i & 1U) == 0) continue;
    const std::optional<IpAddress> address = cell.base.plus(i);
    const std::optional<uint64_t> place = address ? place_of(pool, *address) : std::nullopt;
    if (place) each(i, *address, *place);
  }
}

}  // namespace

std::string pool_entry_id(const CellHolder& holder, const IpAddress& address) {
  return fmt::format("{}{}/{}/{}", kIdStart, holder.node, holder.system_uuid, address);
}

bool is_ours(const IpPoolAllocation& allocation) {
  return allocation.pod_ref.empty() && allocation.id.starts_with(kIdStart);
}

bool has_others(const IpPool& pool, const std::set<std::string>& pods_here) {
  return std::ranges::any_of(pool.allocations, [&](const auto& one) {
    return !is_ours(one.second) && !pods_here.contains(one.second.pod_ref);
  });
}

CellOffsets given_in(const IpPool& pool, const IpAddress& base) {
  CellOffsets out = 0;
  each_place(pool, {base, api::kWholeCell}, [&](unsigned i, const IpAddress&, uint64_t place) {
    const auto there = pool.allocations.find(place);
    if (there != pool.allocations.end() && !is_ours(there->second)) out = static_cast<CellOffsets>(out | 1U << i);
  });
  return out;
}

CellOffsets of_others_in(const IpPool& pool, const IpAddress& base, const CellHolder& holder) {
  CellOffsets out = 0;
  each_place(pool, {base, api::kWholeCell}, [&](unsigned i, const IpAddress& address, uint64_t place) {
    const auto there = pool.allocations.find(place);
    if (there == pool.allocations.end() || !is_ours(there->second)) return;
    if (!is_of(there->second, holder, address) && !is_ended(there->second, address))
      out = static_cast<CellOffsets>(out | 1U << i);
  });
  return out;
}

Result<IpPoolChange> reserve_in(const IpPool& pool, const CellChoice& cell, const CellHolder& holder) {
  IpPoolChange change;
  size_t more = 0;
  each_place(pool, cell, [&](unsigned, const IpAddress& address, uint64_t place) {
    const auto there = pool.allocations.find(place);
    const bool is_new = there == pool.allocations.end();
    if (!is_new && !is_ended(there->second, address)) return;
    change.put[place] = {pool_entry_id(holder, address), ""};
    more += is_new;
  });
  const auto ours =
      static_cast<size_t>(std::ranges::count_if(pool.allocations, [](const auto& one) { return is_ours(one.second); }));
  if (more > 0 && ours + more > kMostInPool)
    return fail(
        Error{.code = Code::kExhausted,
              .message = fmt::format("IPPool {}/{} has {} addresses of railbed's nodes already, of {} that it may "
                                     "have: every ADD of whereabouts reads it",
                                     pool.ns, pool.name, ours, kMostInPool),
              .hint = "switch the other nodes over, then stop using --whereabouts share"});
  return change;
}

CellMap entries_in(const IpPool& pool) {
  CellMap out;
  for (const auto& [place, allocation] : pool.allocations) {
    const std::optional<IpAddress> address = pool.range.address.plus(place);
    if (!address || !is_ours(allocation)) continue;
    const IpAddress base = cell_of(*address);
    out[base] |= static_cast<CellOffsets>(1U << address->minus(base).value_or(0));
  }
  return out;
}

IpPoolChange mark_ended(const IpPool& pool, const CellMap& addresses) {
  IpPoolChange change;
  for (const auto& [base, offsets] : addresses)
    each_place(pool, {base, offsets}, [&](unsigned, const IpAddress& address, uint64_t place) {
      const auto there = pool.allocations.find(place);
      if (there != pool.allocations.end() && is_ours(there->second) && !is_ended(there->second, address))
        change.put[place] = {ended_id(address), ""};
    });
  return change;
}

IpPoolChange drop_ended(const IpPool& pool, const CellMap& addresses) {
  IpPoolChange change;
  for (const auto& [base, offsets] : addresses)
    each_place(pool, {base, offsets}, [&](unsigned, const IpAddress& address, uint64_t place) {
      const auto there = pool.allocations.find(place);
      if (there != pool.allocations.end() && is_ended(there->second, address)) change.drop.insert(place);
    });
  return change;
}

IpPoolChange set_holder(const IpPool& pool, const CellChoice& cell, const CellHolder& holder) {
  IpPoolChange change;
  each_place(pool, cell, [&](unsigned, const IpAddress& address, uint64_t place) {
    const auto there = pool.allocations.find(place);
    if (there == pool.allocations.end() || !is_ours(there->second)) return;
    const std::string id = pool_entry_id(holder, address);
    if (there->second.id != id) change.put[place] = {id, ""};
  });
  return change;
}

IpPoolChange release_in(const IpPool& pool, const CellChoice& cell, const CellHolder& holder) {
  IpPoolChange change;
  each_place(pool, cell, [&](unsigned, const IpAddress& address, uint64_t place) {
    const auto there = pool.allocations.find(place);
    if (there != pool.allocations.end() && is_ours(there->second) && there->second.id == pool_entry_id(holder, address))
      change.drop.insert(place);
  });
  return change;
}

IpPoolChange release_rest(const IpPool& pool, const CellMap& held, const CellHolder& holder) {
  IpPoolChange change;
  for (const auto& [place, allocation] : pool.allocations) {
    const std::optional<IpAddress> address = pool.range.address.plus(place);
    if (!address || !is_ours(allocation) || allocation.id != pool_entry_id(holder, *address)) continue;
    const IpAddress base = cell_of(*address);
    const auto cell = held.find(base);
    const auto offset = static_cast<unsigned>(address->minus(base).value_or(0));
    if (cell == held.end() || (cell->second >> offset & 1U) == 0) change.drop.insert(place);
  }
  return change;
}

}  // namespace railbed::ipam
