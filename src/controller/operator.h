// SPDX-License-Identifier: Apache-2.0
// The operator of a cluster: policies become specs of node states, networks become definitions, and what became of
// both is told in their status.
//
//   caches (a thread each) ─► WorkQueue, by key ─► writers ─► decide(), plan_networks(), policy_status() ─► API server
//
// Why: all decisions are pure (node_states.h, networks.h, policy_status.h); here is only when they are asked and what
// may be written. One change makes the tasks of the objects that it concerns. Nothing is written by who does not lead,
// while a list is not known, and, but for the nodes that were taken over, while the SR-IOV operator runs.
// After a policy was deleted nothing is written for nodes until no more go for a moment: with a definition or a
// namespace that is deleted, or a mistake, all of them go one after the other. When two or more go and none is left,
// specs stay until somebody confirms; the last one alone is an order, where the definition of its kind is still there.
// Threading: run() once; standing() from any thread. Failure: run() has none, it goes on until it is stopped;
// standing() and the Events say what is wrong.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "controller/cell_reclaim.h"
#include "controller/cluster.h"
#include "controller/identities.h"
#include "controller/networks.h"
#include "controller/node_states.h"
#include "controller/outcomes.h"
#include "controller/policy_set.h"
#include "controller/work_queue.h"
#include "kube/events.h"
#include "kube/leader.h"

namespace railbed::controller {

struct OperatorSettings {
  std::string ns;        // of policies, node states and the Lease
  std::string identity;  // of this process and no other
  std::string resource_prefix = "openshift.io";
  graph::Labels node_selector{{"kubernetes.io/os", "linux"}};  // the nodes that get a node state
  int writers = 8;                                             // each waits for the API server most of the time
  kube::milliseconds settle{3000};                             // after a policy was deleted
  kube::milliseconds status_pause{3000};                       // between two writes of one policy's status
  kube::milliseconds look_period{1000};
  kube::milliseconds upstream_quiet{30000};      // after the last pod of the SR-IOV operator was seen
  std::chrono::seconds keep_states{1800};        // of nodes that are gone
  ReclaimSettings reclaim;                       // leases of addresses
  kube::milliseconds cells_gather{1000};         // Nodes that change together are one look at leases
  kube::milliseconds identities_period{300000};  // between two looks at the MACs and GUIDs of all pods
};

// For people and for metrics.
struct OperatorStanding {
  bool leads = false;
  std::string holder;  // of the Lease
  std::string closed;  // why nothing is written; empty: writes
  bool upstream_operator = false;
  std::vector<std::pair<std::string, kube::Standing>> caches;
  std::map<std::string, std::string> held;                  // why, by node
  std::map<std::pair<std::string, bool>, uint64_t> writes;  // by kind, and whether it worked
  CellStanding cells;
  size_t shared_identities = 0;  // MACs and GUIDs that pods of two nodes have
  size_t waiting = 0;            // tasks
  kube::ClientCounters requests;
  kube::EventCounters events;
  kube::Instant looked{};  // when the loop was last seen at work
};

enum class Importance : uint8_t { kInfo, kWarning };

class Operator {
 public:
  using Tell = std::function<void(Importance, const std::string&)>;

  // All outlive it. `tell` is called in any thread.
  Operator(kube::Transport& transport, kube::Clock& clock, OperatorSettings settings, Tell tell);

  // Until it is stopped; then the Lease is given back.
  void run(std::stop_token stop);
  OperatorStanding standing() const;
  // Nothing is left to do now. For tests.
  bool idle() const { return queue_.idle() && looked_at_everything_; }

 private:
  // What came of the last write of a node's state, against two who write in turn.
  struct LastWrite {
    size_t hash = 0;
    kube::Instant at{};
    int times = 0;
  };

  ClusterObservers observers();
  void policy_changed(const kube::Change& change);
  void node_changed(const kube::Change& change);
  void add_nodes_of(const graph::Labels& selector);
  void add_everything();

  void work(std::stop_token stop);
  bool carry_out(const Task& task, std::stop_token stop);  // false: again later
  void look(std::stop_token stop);
  std::string why_closed() const;
  bool settle(std::stop_token stop);
  bool look_at_node(const std::string& name, std::stop_token stop);
  bool write_node(const std::string& name, const kube::ObjectPtr& state, NodeDecision decision, std::stop_token stop);
  bool too_soon(const std::string& name, const doc::Value& body);
  void tell_held(const std::string& name, const kube::ObjectPtr& state, const std::string& why);
  bool look_at_networks(std::stop_token stop);
  bool write_networks(const NetworksPlan& plan, std::stop_token stop);
  void tell_kept(const std::vector<kube::ObjectPtr>& definitions);
  bool write_network_status(const NetworkOutcome& outcome, std::stop_token stop);
  bool write_policy_status(const std::string& key, std::stop_token stop);
  CellReclaimer::World cells_world();
  bool look_at_cells(std::stop_token stop);
  void look_at_pool_entries(std::stop_token stop);
  bool look_at_identities(std::stop_token stop);

  std::shared_ptr<const PolicySet> policies();
  // The definition of a kind, without a UID where nobody may look; Conflict while it is being deleted.
  Result<KindDefinition> definition_of(const kube::Resource& kind, std::stop_token stop);
  bool namespace_is_going() const;
  bool may_write();
  bool wrote(const std::string& kind, const std::string& what, const kube::Answer<doc::Value>& answer);
  bool wrote(const std::string& kind, const std::string& what, const kube::ApiError* error);
  void event(kube::EventType type, std::string reason, std::string note, kube::Regarding about);
  void tell_of_namespace(const std::string& reason, const std::string& note);

  kube::Clock& clock_;
  const OperatorSettings settings_;
  const Tell tell_;
  kube::Client reader_;  // of lists, which may take long
  // A write that began while this one led has ended before another one may lead.
  kube::Client writer_;
  kube::EventRecorder recorder_;
  kube::LeaderElection election_;
  WorkQueue queue_;
  Cluster cluster_;
  Outcomes outcomes_;
  CellReclaimer cells_;
  std::string pools_error_;  // of the thread that looks at cells: why whereabouts' pools were not looked through last
  std::atomic<bool> missed_{true};  // tasks were dropped: everything is looked at when it may write
  std::atomic<bool> looked_at_everything_{false};

  mutable std::mutex mutex_;
  uint64_t policy_version_ = 0;
  std::shared_ptr<const PolicySet> policies_;
  kube::Instant settled_at_{};
  int deleted_together_ = 0;  // policies, since it was settled last
  std::string policy_kind_;   // UID of their definition, when it was settled last
  WithoutPolicies without_policies_ = WithoutPolicies::kKeepSpecs;
  std::string closed_ = "it has not checked yet";
  bool upstream_ = false;
  kube::Instant looked_{};
  std::set<std::string> unseen_;  // nodes to look at before statuses of policies are worth writing
  std::map<std::string, LastWrite> last_writes_;
  std::map<std::string, std::string> held_;
  std::set<std::string> kept_;  // UIDs of NetworkAttachmentDefinitions without network
  std::vector<SharedIdentity> shared_identities_;
  std::map<std::string, std::string> told_;  // by object: what was told by an Event, where its status is not kept
  std::map<std::pair<std::string, bool>, uint64_t> writes_;
};

}  // namespace railbed::controller
