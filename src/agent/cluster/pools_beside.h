// SPDX-License-Identifier: Apache-2.0
// Whereabouts' pools, as far as they affect a railbed node.
//
// Why: whereabouts does not know leased cells. If it has allocated addresses of a range to pods of other nodes, railbed
// allocates none of that range (pools_beside, CellBlocks::beside), unless a fleet is switched over node by node and
// leased addresses are reserved in the pools, too (PoolShare; ipam/pools.h explains why that is safe). A range in node
// slices is always refused: whereabouts creates the pools of nodes that join later, and railbed's would not be among
// them. If whereabouts' kinds do not exist, there are no pools. One list of the pools is used until look_again():
// railbed's writes check the resourceVersion of what they are based on, so a stale list only costs a second attempt.
// Threading: one thread at a time; each call blocks on the API server.
// Failure: the client's; Exhausted if a pool has too many of railbed's entries; after a failure some pools may have the
// reservation and others not, which release(), or the next release_rest(), removes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/cluster/cell_blocks.h"
#include "api/ip_pool.h"
#include "ipam/cells.h"
#include "kube/client.h"
#include "kube/kinds.h"
#include "kube/right.h"

namespace railbed::agent {

inline constexpr kube::Right kPoolsBesideRights[] = {
    {.kind = kube::kIpPools, .verbs = kube::Verb::kList, .why = "ranges in which whereabouts gives addresses, too"},
    {.kind = kube::kNodeSlicePools,
     .verbs = kube::Verb::kList,
     .why = "ranges in which whereabouts gives addresses, too"}};

// Pools of which no address may be given here, with the pods ("namespace/name") of this node known.
enum class Whereabouts : uint8_t {
  kRefuse,  // ranges of which other nodes' pods have addresses
  kShare,   // what is leased is reserved in its pools: only node slices are refused
};
Result<std::vector<PoolBeside>> pools_beside(kube::Client& client, Whereabouts how,
                                             const std::set<std::string>& pods_here, std::stop_token stop);

class PoolShare {
 public:
  static constexpr kube::Right kRights[] = {{.kind = kube::kIpPools,
                                             .verbs = kube::Verb::kGet | kube::Verb::kCreate | kube::Verb::kUpdate,
                                             .where = kube::Where::kPoolsNamespace,
                                             .granted_by = kube::GrantedBy::kSharing}};

  struct Settings {
    std::string ns = "kube-system";  // where whereabouts has its pools
    api::CellHolder holder;          // this machine
  };
  // `client` outlives this.
  PoolShare(kube::Client& client, Settings settings) : client_(client), settings_(std::move(settings)) {}

  // The pools are listed before they are needed next. With each round, since whereabouts makes pools, too.
  void look_again() { pools_.reset(); }

  // The pools of these ranges are there, so that whereabouts makes none without our reservations. Before reserve().
  Result<void> prepare(const std::string& network_name, const std::vector<api::IpamRange>& ranges,
                       std::stop_token stop);
  // When the cell was leased. An entry of ours that was listed before that is an earlier lease's, and the operator may
  // be about to take it away (controller/pool_entries.h): it is looked at again.
  enum class Leased : uint8_t { kBeforeTheList, kAfterIt };
  // Addresses that are leased, before any of them is given. Returns those that are reserved in every pool of the
  // network that has them; the lease of the others is to be given back. They are whereabouts', or, kAfterIt, another
  // machine of ours has not removed its entry yet. An address that was leased before and has another machine's entry
  // is reserved by that: whereabouts does not give it, and the operator puts this machine's in its place.
  Result<api::CellOffsets> reserve(const std::string& network_name, const ipam::CellChoice& cell, std::stop_token stop,
                                   Leased leased = Leased::kAfterIt);
  // Addresses whose lease was given back.
  Result<void> release(const std::string& network_name, const ipam::CellChoice& cell, std::stop_token stop);
  // What earlier processes left: this machine's entries but for those of `held`, by network_name.
  Result<void> release_rest(const std::map<std::string, ipam::CellMap>& held, std::stop_token stop);

 private:
  struct Stored {
    doc::Value object;
    api::IpPool pool;
  };
  using Change = std::function<Result<api::IpPoolChange>(const api::IpPool& pool)>;
  enum class NothingToDo : uint8_t { kIsBelieved, kIsLookedAtAgain };

  Result<std::vector<Stored>*> listed(std::stop_token stop);
  // Into what listed() has.
  Result<std::vector<Stored*>> pools_of(const std::string& network_name, std::stop_token stop);
  // The change is made of each state of the pool that it meets, until it is stored or there is none to make. `stored`
  // is the pool as it is then.
  Result<void> change(Stored& stored, const Change& next, NothingToDo nothing, std::stop_token stop);
  Result<void> write(Stored& stored, const Change& next, NothingToDo nothing, std::stop_token stop);

  kube::Client& client_;
  const Settings settings_;
  std::optional<std::vector<Stored>> pools_;  // that can be read, of whichever network
};

}  // namespace railbed::agent
