// SPDX-License-Identifier: Apache-2.0
// The addresses that this node has leased, as its state records them, and whether it may allocate them now.
//
// Why in the state: an agent that restarts without an API server continues with what was leased, and after a reboot,
// with which the state ends, it has nothing until the API server has confirmed it. A cell is written here after its
// lease is stored in the API server, and removed from here before the lease is released; in between, none of its
// addresses is allocated. Nothing is allocated either if the node has had no contact to the API server for long
// (ipam::may_give), and from ranges in which whereabouts' own pools have allocations.
// Threading: CellBlocks::blocks() inside a Turn, the rest of it from any thread; functions with a store inside a Turn.
// Failure: blocks(), Busy with the time since when the API server is silent, Conflict with the pool; the store's.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ipam/cells.h"
#include "ipam/stored_blocks.h"
#include "kube/clock.h"
#include "state/store.h"

namespace railbed::agent {

// When the API server last reported all that this node holds.
struct CellsHeard {
  kube::Instant since_boot{};
  kube::WallTime wall{};
};

// The pool (ipam::pool_of) of a whereabouts network_name.
std::string cell_pool(const std::string& network_name);
// The other way; nullopt: it is of no whereabouts.
std::optional<std::string> network_name_of(const std::string& pool);

// What is leased, by network_name.
Result<std::map<std::string, ipam::CellMap>> stored_cells(state::Store& store);
// Exactly these offsets of the cell from now on. Within the caller's transaction.
Result<void> store_cell(state::Store& store, const std::string& network_name, const ipam::CellChoice& cell);
Result<void> store_heard(state::Store& store, const CellsHeard& heard);
Result<std::optional<CellsHeard>> stored_heard(state::Store& store);

// A pool of whereabouts that is in use.
struct PoolBeside {
  std::string name;
  IpRange addresses;
};

class CellBlocks;
// What an earlier agent of this boot heard; before the first address is given.
Result<void> resume_cells(state::Store& store, CellBlocks& blocks);

class CellBlocks : public ipam::BlockSource {
 public:
  // Both outlive this.
  CellBlocks(state::Store& store, kube::Clock& clock, int64_t quiet_seconds);
  Result<std::vector<IpRange>> blocks(const std::string& pool, const api::IpamRange& range) override;

  void heard(const CellsHeard& heard);
  std::optional<CellsHeard> last_heard() const;
  void beside(std::vector<PoolBeside> pools);
  // Busy where the node has not heard of the API server for so long that nothing is given, whatever is leased.
  Result<void> heard_lately() const;
  // Why nothing of the range is given, whatever is leased.
  Result<void> may_give(const IpRange& range) const;

 private:
  Result<void> heard_lately_locked() const;

  kube::Clock& clock_;
  const int64_t quiet_seconds_;
  ipam::StoredBlocks stored_;
  mutable std::mutex mutex_;
  std::optional<CellsHeard> heard_;
  std::vector<PoolBeside> beside_;
};

}  // namespace railbed::agent
