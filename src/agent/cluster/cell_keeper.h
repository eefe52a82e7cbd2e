// SPDX-License-Identifier: Apache-2.0
// Maintains the addresses of this node: leases them before pods need them, leases them immediately if an ADD waits,
// releases unused ones, and compares them with the API server every few minutes.
//
// Why one thread: a CellLeaser allows only one, and ADDs that arrive together are served together. No error ends it:
// failures are retried with exponential backoff and jitter, so that nodes do not return all at once. The answer to an
// ADD is final if a retry cannot help (no address is left, a right is missing); otherwise it waits until its deadline.
// Threading: run() in its own thread; pass() is one round of it, for tests; everything else from any thread.
// Failure: reported by snapshot() and the Events of the agent.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/addresses/address_supply.h"
#include "agent/cluster/cell_leaser.h"
#include "agent/cluster/cell_owner.h"
#include "agent/door/events.h"

namespace railbed::agent {

class CellKeeper : public AddressSupply {
 public:
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kNodes, .verbs = kube::Verb::kList, .why = "how many there are"}};

  struct Dependencies {
    kube::Client& client;
    CellBook& book;
    CellBlocks& blocks;
    Events& events;
    // nullopt: pods and networks are not known yet.
    std::function<std::optional<std::vector<ipam::CellWant>>()> wants;
    // Pools in which whereabouts has allocations; with each look at the API server, and before more is leased. Null:
    // they are not looked for.
    std::function<Result<std::vector<PoolBeside>>(kube::Client&, std::stop_token)> pools;
    // An Event at the Node. May be null.
    std::function<void(const char* reason, const std::string& note)> report;
  };
  struct Settings {
    std::string node;
    MachineIdentity machine;
    int64_t quiet_seconds = 0;
    std::string process;  // unlike that of any other
    // What is leased is reserved in whereabouts' pools of this namespace, too.
    std::optional<std::string> share_with_whereabouts_in;
    std::chrono::milliseconds sync_period{600'000};
    std::chrono::milliseconds give_back_period{30'000};
    std::chrono::milliseconds beside_period{1'000};  // what whereabouts' pools said is old after this
    std::chrono::milliseconds first_pause{500};
    std::chrono::milliseconds longest_pause{30'000};
  };
  // All of `dependencies` outlive this.
  CellKeeper(Dependencies deps, Settings settings);

  void run(const std::stop_token& stop);
  // What is due, with what ADDs wait for. How long nothing is due then.
  std::chrono::milliseconds pass(const std::stop_token& stop);
  // Pods, networks or VFs have changed.
  void wake();
  // Ends all waits: the agent is about to end.
  void hurry();

  Supplied more(std::vector<AddressNeed> needs, std::chrono::steady_clock::time_point deadline) override;

  struct Snapshot {
    uint64_t cells = 0;
    uint64_t addresses = 0;
    uint64_t nodes = 0;                    // of the cluster, as it was counted last
    uint64_t waiting = 0;                  // ADDs
    std::optional<int64_t> heard_seconds;  // since the API server reported all that this node holds
    std::optional<Error> error;            // why it cannot be asked now
    std::vector<std::string> lacking;      // why there is less than pods may need
    std::vector<std::string> conflicts;    // the last ones
    uint64_t conflict_count = 0;
  };
  Snapshot snapshot() const;

 private:
  struct Task {
    std::vector<AddressNeed> needs;
    bool answered = false;
    std::optional<Error> why_not;
  };
  using TaskPtr = std::shared_ptr<Task>;

  bool can_ask() const { return leaser_ != nullptr && pause_ == std::chrono::milliseconds(0); }
  Result<void> sync(const std::stop_token& stop);
  Result<void> look_beside(const std::stop_token& stop);
  void take_conflicts();
  void serve(const std::stop_token& stop);
  Result<void> supply(const Task& task, const std::stop_token& stop);
  uint64_t needs_of(const std::string& network_name) const;
  void lease_wanted(const std::stop_token& stop);
  void give_back(const std::stop_token& stop);
  void failed(const Error& error);
  void count_cells();
  Error silence() const;
  kube::Instant after(std::chrono::milliseconds period);

  Dependencies deps_;
  const Settings settings_;
  // Of the thread of pass().
  std::unique_ptr<PoolShare> share_;    // may stay null
  std::unique_ptr<CellLeaser> leaser_;  // from the first sync() on
  kube::Instant next_sync_{};
  kube::Instant next_give_back_{};
  kube::Instant next_beside_{};
  kube::Instant tried_{};
  std::chrono::milliseconds pause_{0};  // not 0: the API server cannot be asked
  bool counted_ = false;                // snapshot_ has the cells as they are
  std::optional<std::vector<ipam::CellWant>> leased_for_;
  std::vector<ipam::CellWant> wanted_lately_;  // the most of each since addresses were last given back
  kube::Instant next_try_{};                   // where something of it is lacking

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  bool woken_ = false;
  bool ends_ = false;
  std::vector<TaskPtr> waiting_;
  std::vector<std::weak_ptr<Task>> kept_;  // answered or not, as long as their callers have them
  Snapshot snapshot_;
};

}  // namespace railbed::agent
