// SPDX-License-Identifier: Apache-2.0
// A node's addresses of ranges that nodes share: those that it allocates, and the loop that leases them.
//
// Threading: the main thread; more(), wake(), samples() and report() from any. The loop has a thread of its own.
// Failure: none ends it; report() and the agent's Events have the reason.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/cluster/cell_keeper.h"
#include "agent/cluster/cluster_side.h"
#include "agent/cluster/engine_cells.h"

namespace railbed {

class NodeCells : public agent::AddressSupply {
 public:
  struct Dependencies {
    os::Kernel& kernel;
    state::Store& store;
    kube::Clock& clock;
    agent::Events& events;
    agent::ClusterSide& side;
  };
  struct Settings {
    std::string node;
    int64_t reclaim_after_s = 0;  // of machines without a Node; 0: never
    agent::Whereabouts whereabouts = agent::Whereabouts::kRefuse;
    std::string whereabouts_ns;  // where its pools are
  };
  // All dependencies outlive it.
  NodeCells(const Dependencies& deps, Settings settings);

  ipam::BlockSource& blocks() { return blocks_; }
  // What an earlier agent had leased; before start().
  Result<void> restore() { return agent::resume_cells(deps_.store, blocks_); }
  // `engine` outlives it, too. `vfs` is how many there are of each resource.
  void start(agent::Engine& engine, std::function<std::map<std::string, uint64_t>()> vfs);
  void wake();
  void hurry();
  void stop();

  Supplied more(std::vector<agent::AddressNeed> needs, std::chrono::steady_clock::time_point deadline) override;

  std::vector<agent::Sample> samples() const;
  doc::Value report() const;

 private:
  agent::CellKeeper::Settings keeper_settings() const;

  const Dependencies deps_;
  const Settings settings_;
  agent::CellBlocks blocks_;
  std::unique_ptr<agent::EngineCells> book_;
  std::unique_ptr<agent::CellKeeper> keeper_;
  std::atomic<agent::CellKeeper*> started_ = nullptr;  // for other threads, which may be there before it
  std::jthread thread_;                                // last: it uses the others
};

}  // namespace railbed
