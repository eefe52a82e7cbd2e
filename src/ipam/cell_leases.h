// SPDX-License-Identifier: Apache-2.0
// The leases of a cell's addresses, and when they end.
//
// Why: this alone prevents two nodes from allocating the same address, so it is decided here, from values alone. A
// lease ends with
//   - a release by its holder (with_mine),
//   - a new boot of the same machine, reported by its agent (with_mine): addresses of the earlier boot ended with it,
//   - the operator's check: the Node has the out-of-service taint, is not ready, and has not booted since,
//   - the operator's check: for `reclaim_after` there was no Node of this name and machine. That is time in which an
//     operator checked, by its own clock; never less than twice the time after which the holder, without contact to the
//     API server, allocates no new address, and any write of the holder restarts it,
//   - a release by an administrator (controller/cell_release.h).
// A Node that is deleted, or whose name another machine has, is by itself no sign that its machine is not running.
// Every function computes the next content of an object; it is stored only with the resourceVersion of its input.
// Threading: pure functions.
// Failure: with_mine, Conflict with the holder of the address.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/address_cell.h"

namespace railbed::ipam {

// This boot of this machine.
struct CellOwner {
  api::CellHolder holder;
  int64_t quiet_seconds = 0;
  std::set<std::string> former_names;  // of this machine, by which there is no Node any more
  // Leases of this boot under another name are others', too: the API server does not let this node write them.
  bool own_name_only = false;
};

// What this boot of the machine holds.
api::CellOffsets held_by(const api::AddressCell& cell, const CellOwner& owner);
// What no other owner can be given: of other machines, and of an earlier boot of this one under a name that may be a
// Node's.
api::CellOffsets held_by_others(const api::AddressCell& cell, const CellOwner& owner);
// Whether one of its leases, or one of an earlier boot that has ended with it, is not as its next write would make it.
bool needs_write(const api::AddressCell& cell, const CellOwner& owner);

// The cell with exactly these offsets held by `owner`: earlier boots' are gone, and `gone_seconds` is 0. The lease
// stays where it is among the others, since of two with one offset the first has it. Leases of others are not touched,
// whatever they say: a policy of the cluster refuses a write that does. Without any lease left the object is to be
// deleted.
Result<api::AddressCell> with_mine(api::AddressCell cell, const CellOwner& owner, api::CellOffsets offsets,
                                   const std::string& claim);

// Whether an agent may give new addresses: it has heard of the API server recently enough by both clocks. A clock that
// was set back counts for nothing; one that stood still while the machine did not run is why there are two.
bool may_give(int64_t quiet_seconds, int64_t seconds_since_boot_clock, int64_t seconds_by_wall_clock);

// --- the operator's side

// What a Node reports.
struct CellNode {
  std::string system_uuid;
  std::string boot_id;
  bool out_of_service = false;
  bool ready = false;
};

struct ReclaimRules {
  std::optional<int64_t> after_seconds;  // nullopt: never
};

struct LeaseLook {
  const CellNode* node = nullptr;  // of the lease's name; null: there is none
  int64_t seconds = 0;             // since the last look that found it gone, too; 0: this is the first
};

enum class LeaseFate : uint8_t {
  kStays,
  kCounts,  // its `gone_seconds` change
  kEnds,
};
struct LeaseVerdict {
  LeaseFate fate = LeaseFate::kStays;
  int64_t gone_seconds = 0;
  std::string why;  // it ends
};
LeaseVerdict judge(const api::CellLease& lease, const LeaseLook& look, const ReclaimRules& rules);

}  // namespace railbed::ipam
