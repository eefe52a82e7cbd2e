// SPDX-License-Identifier: Apache-2.0
// Leases and releases addresses for this node: in the state and in the API server, in sequence.
//
// Why this order: an address may be allocated as long as it is in the state, so it is written there after its lease is
// stored in the API server, and removed from there before its lease is released. Whatever is lost on the way (an
// answer, this process, the API server's last minutes) leaves the API server with more or less than the state has;
// sync() makes them equal again, by writing: a late write of an earlier process then fails on the resourceVersion.
//   the API server has more    it is released, unless an interface has it: then the state was lost
//   the API server has less    the lease was lost: it is leased again and reported (take_lost()); if another node
//                              has it in the meantime, that is a conflict
// Nothing is leased in a cell that is being deleted: its leases end with the object, as soon as its finalizers are
// removed. Existing leases there are kept as long as pods use them.
// Threading: one thread at a time, not inside a Turn.
// Failure: the API server's or the state's, after which the next sync() continues; lease(), Exhausted if nothing is
// left.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/cluster/cell_blocks.h"
#include "agent/cluster/pools_beside.h"
#include "cells/cell_api.h"
#include "ipam/cell_leases.h"
#include "kube/kinds.h"
#include "kube/right.h"

namespace railbed::agent {

// Turns of the agent, as far as leases need them.
class CellBook {
 public:
  virtual ~CellBook() = default;
  // Whether anybody on this machine has the address.
  using InUse = std::function<bool(const std::string& pool, const IpAddress& address)>;
  virtual Result<void> in_turn(const std::function<Result<void>(state::Store&, const InUse&)>& work) = 0;
};

class CellLeaser {
 public:
  // deploy/rbac has always granted `watch` on cells, too; no request of this version needs it.
  static constexpr kube::Right kRights[] = {{.kind = kube::kAddressCells,
                                             .verbs = kube::Verb::kGet | kube::Verb::kList | kube::Verb::kWatch |
                                                      kube::Verb::kCreate | kube::Verb::kUpdate | kube::Verb::kDelete,
                                             .why = "addresses that it leases"},
                                            {.kind = kube::kNodes, .verbs = kube::Verb::kGet}};

  struct Dependencies {
    kube::Client& client;
    CellBook& book;
    CellBlocks& blocks;
    PoolShare* share = nullptr;  // what is leased is reserved in whereabouts' pools, too
    // Whereabouts' pools as they are now, for `blocks`: before more is leased. Null: they are not read.
    std::function<Result<void>(std::stop_token stop)> look_beside = nullptr;
  };
  struct Settings {
    ipam::CellOwner owner;
    std::string process;  // unlike that of any other: claims begin with it
  };
  // All of `dependencies` outlive this.
  CellLeaser(Dependencies deps, Settings settings);

  Result<void> sync(std::stop_token stop);
  // Whereabouts has pools of these ranges; before lease_address(). lease() does it.
  Result<void> prepare(const ipam::CellWant& want, std::stop_token stop);
  // Until the node has what is wanted.
  Result<void> lease(const ipam::CellWant& want, std::stop_token stop);
  // As lease(), for so many addresses more than are in use. An ADD waits: pools are looked at again only where nothing
  // of the network is held here yet.
  Result<void> lease_more(ipam::CellWant want, uint64_t count, std::stop_token stop);
  // One address that is asked for by name. Conflict where another node has it.
  Result<void> lease_address(const std::string& network_name, const IpAddress& address, std::stop_token stop);
  // What is unused here, and what is beyond all wants; it must be so at two calls in turn.
  Result<void> give_back(const std::vector<ipam::CellWant>& wants, std::stop_token stop);

  void nodes(uint64_t count) { nodes_ = count; }
  // Addresses in use here that another node has leased; once each.
  std::vector<std::string> take_conflicts() { return std::exchange(conflicts_, {}); }
  // Leases of this node that the API server did not have any more.
  std::vector<std::string> take_lost() { return std::exchange(lost_, {}); }

 private:
  using Key = std::pair<std::string, IpAddress>;  // network_name, base

  Result<std::map<std::string, ipam::CellMap>> stored();
  Result<ipam::CellMap> used(const std::string& network_name);
  Result<void> put(const Key& key, api::CellOffsets offsets);
  Result<void> forget_former_names(const std::vector<api::AddressCell>& cells, std::stop_token stop);
  enum class Ahead : uint8_t { kNo, kYes };
  Result<void> lease(const ipam::CellWant& want, Ahead ahead, std::stop_token stop);
  Result<void> look_beside(const std::string& network_name, const IpRange& addresses, Ahead ahead,
                           std::stop_token stop);
  Result<api::CellOffsets> used_of(const api::AddressCell& cell, api::CellOffsets offsets);
  Result<void> label_again(const api::AddressCell& cell, api::CellOffsets offsets, std::stop_token stop);
  void report_lost(const api::AddressCell& cell, api::CellOffsets offsets);
  api::CellOffsets unavailable(const api::AddressCell& cell) const;
  bool leaves_other_names(const Error& error, const api::AddressCell& cell);
  Result<api::CellOffsets> keep_used(const api::AddressCell& cell, api::CellOffsets stored);
  Result<void> lease_used(std::stop_token stop);
  void report_conflict(const api::AddressCell& cell, const IpAddress& address);
  bool has_other_names(const api::AddressCell& cell) const;
  Result<void> hold_as_far_as_allowed(const api::AddressCell& cell, api::CellOffsets offsets, std::stop_token stop);
  Result<void> hold_exactly(api::AddressCell cell, api::CellOffsets offsets, std::stop_token stop);
  Result<void> drop_lost(const api::AddressCell& cell, api::CellOffsets lost, api::CellOffsets kept);
  Result<cells::CellApi::Written> write(const api::AddressCell& before, api::CellOffsets offsets, std::stop_token stop);
  Result<bool> try_cell(const Key& key, api::CellOffsets more, std::stop_token stop);
  Result<bool> keep_reserved(const Key& key, api::CellOffsets mine, api::CellOffsets more, std::stop_token stop);
  Result<void> reserve_held(std::stop_token stop);
  Result<void> drop_given(const Key& key, api::CellOffsets given, api::CellOffsets kept);
  Result<void> learn_network(const std::string& network_name, std::stop_token stop);
  Result<void> give_back(const Key& key, api::CellOffsets offsets, std::stop_token stop);
  void remember(const api::AddressCell& cell);
  ipam::CellMap not_ours(const std::string& network_name) const;
  std::string claim() { return fmt::format("{}.{}", settings_.process, ++claims_); }

  Dependencies deps_;
  Settings settings_;
  cells::CellApi api_;
  uint64_t nodes_ = 1;
  uint64_t claims_ = 0;
  std::map<Key, api::AddressCell> known_;                // as they were read or written last
  std::map<std::string, ipam::CellMap> taken_;           // by others, by network_name, as far as it was seen
  std::map<std::string, ipam::CellMap> given_beside_;    // by whereabouts, by network_name, until the next sync()
  std::set<std::string> prepared_;                       // pools
  std::map<std::string, ipam::CellMap> left_over_once_;  // by network_name, at the last give_back()
  std::set<std::pair<std::string, IpAddress>> reported_conflicts_;  // of addresses that are not leased here
  std::vector<std::string> conflicts_;
  std::vector<std::string> lost_;
};

}  // namespace railbed::agent
