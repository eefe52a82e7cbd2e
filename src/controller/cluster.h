// SPDX-License-Identifier: Apache-2.0
// The operator's caches: one per kind, each fed by its own thread.
//
// Why: decisions are made from caches alone, and only while all of them are fed: a list that is missing, forbidden or
// gone with its definition is no desired state. A kind is one row in known_kinds() (cluster.cc).
// Threading: observe() before start(), start() once; everything else from any thread. Failure: missing() says what is
// not known and why.
#pragma once

#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/informer.h"
#include "kube/kinds.h"
#include "kube/right.h"

namespace railbed::controller {

// In the order of the rows.
enum class Known : uint8_t {
  kPolicies,
  kNodeStates,
  kNodes,
  kNetworks,
  kIbNetworks,
  kDefinitions,
  kNamespaces,
  kUpstreamOperators,  // pods of the SR-IOV operator
  kUpstreamDaemons,    // pods of its config daemon
};
inline constexpr size_t kKnownKinds = 9;

class Cluster {
 public:
  // `ns` has policies and node states. `client` outlives this.
  Cluster(kube::Client& client, std::string ns);

  // Called in the thread of that kind's cache, which has the change already, in the order of registration.
  void observe(Known kind, kube::Informer::Observer observer);
  void start();
  void stop();

  // "SriovNetworkNodePolicy: 404 …" for each list that is not known or not fed any more; empty when all are.
  // An API server that does not answer is none: what was known stays, and no write gets through either.
  std::string missing() const;
  std::vector<std::pair<std::string, kube::Standing>> standings() const;  // by kind
  // To list and watch each kind.
  static std::vector<kube::Right> rights();

  kube::Objects objects(Known kind) const;
  kube::ObjectPtr find(Known kind, const kube::ObjectKey& key) const;  // null where it is not there
  kube::ObjectPtr node(const std::string& name) const { return find(Known::kNodes, {"", name}); }
  kube::ObjectPtr node_state(const std::string& name) const { return find(Known::kNodeStates, {ns_, name}); }
  kube::ObjectPtr own_namespace() const { return find(Known::kNamespaces, {"", ns_}); }
  const std::string& ns() const { return ns_; }

 private:
  struct Cache {
    Cache(std::string the_name, kube::Client& client, kube::InformerSettings settings);
    std::string name;
    std::vector<kube::Informer::Observer> observers;
    kube::Informer informer;
  };
  const Cache& cache(Known kind) const { return caches_[static_cast<size_t>(kind)]; }

  const std::string ns_;
  std::deque<Cache> caches_;  // as Known
  std::vector<std::jthread> threads_;
};

}  // namespace railbed::controller
