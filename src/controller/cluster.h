// SPDX-License-Identifier: Apache-2.0
// The operator's view of the cluster: a cache per kind, each with its own thread.
//
// Why: decisions are made from caches alone, and only while all of them are up to date: a list that is missing,
// forbidden or deleted with its definition is not an order. The SR-IOV operator is detected by its pods; it counts as
// running for a while after the last of them was seen, since a pod that moves to another node is briefly absent.
// Threading: start() once; everything else from any thread.
// Failure: missing() reports what is unknown and why.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kube/informer.h"
#include "kube/kinds.h"

namespace railbed::controller {

// Called in the thread of their kind's cache, which has the change already.
struct ClusterObservers {
  kube::Informer::Observer policies, node_states, nodes, networks, definitions, namespaces, upstream;
};

class Cluster {
 public:
  Cluster(kube::Client& client, const std::string& ns, ClusterObservers observers, kube::milliseconds upstream_quiet);

  void start();
  void stop();

  // "SriovNetworkNodePolicy: 404 …" for each list that is not known or not fed any more; empty when all are.
  // An API server that does not answer is none: what was known stays, and no write gets through either.
  std::string missing() const;
  bool synced() const;
  std::vector<std::pair<std::string, kube::Standing>> standings() const;  // by kind

  // The SR-IOV operator's: whether it runs, and whether its config daemon is on a node.
  bool upstream_operator() const;
  bool upstream_daemon(const std::string& node) const;

  kube::Objects policies() const { return policies_.objects(); }
  kube::ObjectPtr policy(const kube::ObjectKey& key) const { return policies_.find(key); }
  kube::Objects nodes() const { return nodes_.objects(); }
  kube::ObjectPtr node(const std::string& name) const { return nodes_.find({"", name}); }
  kube::Objects node_states() const { return node_states_.objects(); }
  kube::ObjectPtr node_state(const std::string& name) const { return node_states_.find({ns_, name}); }
  kube::Objects networks() const { return networks_.objects(); }
  kube::Objects ib_networks() const { return ib_networks_.objects(); }
  kube::Objects definitions() const { return definitions_.objects(); }
  kube::Objects namespaces() const { return namespaces_.objects(); }
  kube::ObjectPtr own_namespace() const { return namespaces_.find({"", ns_}); }

 private:
  void take_upstream_operator(const kube::Change& change);
  void take_upstream_daemon(const kube::Change& change);

  kube::Client& client_;
  const std::string ns_;
  const ClusterObservers observers_;
  const kube::milliseconds upstream_quiet_;
  kube::Informer policies_, node_states_, nodes_, networks_, ib_networks_, definitions_, namespaces_;
  kube::Informer upstream_operators_, upstream_daemons_;

  mutable std::mutex mutex_;
  std::set<kube::ObjectKey> operators_;
  kube::Instant operator_seen_{};                             // when the last of them went; zero: none has been seen
  std::map<std::string, std::set<kube::ObjectKey>> daemons_;  // by node
  std::vector<std::jthread> threads_;
};

}  // namespace railbed::controller
