// SPDX-License-Identifier: Apache-2.0
#include "ipam/cell_leases.h"

#include <algorithm>
#include <utility>

namespace railbed::ipam {
namespace {

using api::AddressCell;
using api::CellHolder;
using api::CellLease;
using api::CellOffsets;

// The same boot under another name is the same agent: its Node was renamed.
bool is_mine(const CellLease& lease, const CellOwner& owner) {
  return lease.holder.system_uuid == owner.holder.system_uuid && lease.holder.boot_id == owner.holder.boot_id &&
         (!owner.own_name_only || lease.holder.node == owner.holder.node);
}

// Machines that were cloned have one UUID: the name distinguishes them, as long as a Node has it.
bool is_of_earlier_boot(const CellLease& lease, const CellOwner& owner) {
  return lease.holder.system_uuid == owner.holder.system_uuid && lease.holder.boot_id != owner.holder.boot_id &&
         (lease.holder.node == owner.holder.node || owner.former_names.contains(lease.holder.node));
}

}  // namespace

CellOffsets held_by(const AddressCell& cell, const CellOwner& owner) {
  CellOffsets out = 0;
  for (const CellLease& lease : cell.leases)
    if (is_mine(lease, owner)) out |= lease.offsets;
  return out;
}

CellOffsets held_by_others(const AddressCell& cell, const CellOwner& owner) {
  CellOffsets out = 0;
  for (const CellLease& lease : cell.leases)
    if (!is_mine(lease, owner) && !is_of_earlier_boot(lease, owner)) out |= lease.offsets;
  return out;
}

bool needs_write(const AddressCell& cell, const CellOwner& owner) {
  return std::ranges::any_of(cell.leases, [&](const CellLease& lease) {
    if (is_of_earlier_boot(lease, owner)) return true;
    return is_mine(lease, owner) && (lease.gone_seconds > 0 || lease.quiet_seconds != owner.quiet_seconds ||
                                     lease.holder != owner.holder || lease.offsets == 0 || lease.overlapping != 0);
  });
}

Result<AddressCell> with_mine(AddressCell cell, const CellOwner& owner, CellOffsets offsets, const std::string& claim) {
  if ((held_by_others(cell, owner) & offsets) != 0)
    for (const CellLease& lease : cell.leases)
      if (!is_mine(lease, owner) && (lease.offsets & offsets) != 0)
        return fail(Code::kConflict, "addresses of the cell {} of network_name \"{}\" are leased to node {}", cell.base,
                    cell.network_name, lease.holder.node);
  std::optional<CellLease> mine;
  if (offsets != 0)
    mine = {.holder = owner.holder, .claim = claim, .offsets = offsets, .quiet_seconds = owner.quiet_seconds};
  std::vector<CellLease> leases;
  for (CellLease& lease : cell.leases) {
    if (is_mine(lease, owner) && mine) leases.push_back(*std::exchange(mine, std::nullopt));
    if (!is_mine(lease, owner) && !is_of_earlier_boot(lease, owner)) leases.push_back(std::move(lease));
  }
  if (mine) leases.push_back(*std::move(mine));
  api::give_offsets_to_the_first(leases);
  cell.leases = std::move(leases);
  return cell;
}

bool may_give(int64_t quiet_seconds, int64_t seconds_since_boot_clock, int64_t seconds_by_wall_clock) {
  return quiet_seconds == 0 || std::max(seconds_since_boot_clock, seconds_by_wall_clock) < quiet_seconds;
}

LeaseVerdict judge(const CellLease& lease, const LeaseLook& look, const ReclaimRules& rules) {
  const CellNode* node = look.node;
  if (node != nullptr && node->system_uuid == lease.holder.system_uuid) {
    // An agent leases before its kubelet has reported the new boot: another boot id says nothing here.
    if (node->out_of_service && !node->ready && node->boot_id == lease.holder.boot_id)
      return {LeaseFate::kEnds, 0, "its Node is tainted as out of service"};
    if (lease.gone_seconds > 0) return {LeaseFate::kCounts, 0, ""};
    return {};
  }
  const int64_t gone = std::max<int64_t>(1, lease.gone_seconds + look.seconds);
  if (rules.after_seconds && lease.quiet_seconds > 0 && gone >= std::max(*rules.after_seconds, 2 * lease.quiet_seconds))
    return {LeaseFate::kEnds, 0,
            fmt::format("{} for {} s",
                        node == nullptr ? "it has had no Node" : "another machine has had the name of its Node", gone)};
  if (gone == lease.gone_seconds) return {};
  return {LeaseFate::kCounts, gone, ""};
}

}  // namespace railbed::ipam
