// SPDX-License-Identifier: Apache-2.0
// The operator of a cluster: its reconcilers and what they share, on one manager.
//
// A new kind is a reconciler in a file of its own, a member and a row here. The order of members is that in which
// observers of one kind are called: Upstream knows of its pods before others ask it. Threading: run() once; snapshot()
// from any thread. Failure: run() has none, it continues until it is stopped; snapshot() and the Events say what is
// wrong.
#pragma once

#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "api/cluster_labels.h"
#include "base/kinds.h"
#include "controller/cell_reconciler.h"
#include "controller/config_reconciler.h"
#include "controller/drains.h"
#include "controller/identity_reconciler.h"
#include "controller/network_reconciler.h"
#include "controller/node_reconciler.h"
#include "controller/policy_reconciler.h"

namespace railbed::controller {

// The reconciler that keeps the objects of a kind in the desired state, or the status of those that people write. Each
// kind whose definition is in deploy/crds has a row: a test names one without.
struct KeptKind {
  const Kind& kind;
  std::string_view reconciler;
};
inline constexpr KeptKind kKeptKinds[] = {
    {kind_named("SriovNetworkNodePolicy"), PolicyReconciler::kName},
    {kind_named("SriovNetworkNodeState"), NodeReconciler::kName},
    {kind_named("SriovNetwork"), NetworkReconciler::kName},
    {kind_named("SriovIBNetwork"), NetworkReconciler::kName},
    {kind_named("NetworkAttachmentDefinition"), NetworkReconciler::kName},
    {kind_named("AddressCell"), CellReconciler::kName},
    {kind_named("SriovOperatorConfig"), ConfigReconciler::kName},
    {kind_named("SriovNetworkPoolConfig"), ConfigReconciler::kName},
};

struct OperatorSettings {
  std::string ns;        // of node states and the Lease; its policies are served in any case
  std::string identity;  // of this process and no other
  std::string resource_prefix = "openshift.io";
  // Others whose policies and networks are served, each only while no SR-IOV operator runs in it.
  std::vector<std::string> policy_namespaces{std::begin(api::kPolicyNamespaces), std::end(api::kPolicyNamespaces)};
  graph::Labels node_selector{{"kubernetes.io/os", "linux"}};  // the nodes that get a node state
  int writers = 8;                                             // each waits for the API server most of the time
  kube::milliseconds settle{3000};                             // after a policy was deleted
  kube::milliseconds status_pause{3000};                       // between two writes of one policy's status
  kube::milliseconds look_period{1000};
  kube::milliseconds upstream_quiet{30000};      // after the last pod of the SR-IOV operator was seen
  std::chrono::seconds keep_states{1800};        // of nodes that no longer exist
  ReclaimSettings reclaim;                       // leases of addresses
  kube::milliseconds cells_gather{1000};         // Nodes that change together are one look at leases
  kube::milliseconds identities_period{300000};  // between two looks at the MACs and GUIDs of all pods
  DrainRules drains;                             // its resource_prefix is the one above
  // Called with the logLevel of the SriovOperatorConfig, in any thread.
  std::function<void(int)> verbosity = {};
};

// For people and for metrics.
struct OperatorSnapshot : ManagerSnapshot {
  bool upstream_operator = false;
  std::map<std::string, std::string> held;  // why, by node
  ReclaimStatus cells;
  size_t shared_identities = 0;  // MACs and GUIDs that pods of two nodes have
};

class Operator {
 public:
  using Report = Manager::Report;

  // All outlive it. `report` is called in any thread.
  Operator(kube::Transport& transport, kube::Clock& clock, const OperatorSettings& settings, Report report);

  // Until it is stopped; then the Lease is released.
  void run(std::stop_token stop) { manager_.run(std::move(stop)); }
  OperatorSnapshot snapshot() const;
  // Of its service account: deploy/rbac/operator.yaml, deploy/sharing/whereabouts.yaml and deploy/drains/operator.yaml.
  std::vector<kube::Right> rights() const { return manager_.rights(); }
  // Nothing is left to do now. For tests.
  bool idle() const { return manager_.idle(); }

 private:
  Manager manager_;
  Upstream upstream_;
  Policies policies_;
  ClusterSettings cluster_settings_;
  Outcomes outcomes_;
  DrainNotes drain_notes_;
  NodeReconciler nodes_;
  PolicyReconciler statuses_;
  NetworkReconciler networks_;
  CellReconciler cells_;
  IdentityReconciler identities_;
  ConfigReconciler configs_;
  DrainReconciler drains_;
};

}  // namespace railbed::controller
