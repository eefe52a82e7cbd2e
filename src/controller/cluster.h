// SPDX-License-Identifier: Apache-2.0
// The operator's caches: one per kind, each fed by its own thread.
//
// Why: decisions are made from caches alone, and only while all that they need are fed: a list that is missing,
// forbidden or gone with its definition is no desired state. Without one of the kinds in `Known` nothing is decided.
// Those in `OptionalKind` are features that a cluster may lack: only what reads them does without, and the type says
// that a list that is not known is no empty one. A kind is one row in cluster.cc.
// Threading: observe() before start(), start() once; everything else from any thread. Failure: missing() says what is
// not known and why, status() the same of an optional kind.
#pragma once

#include <deque>
#include <optional>
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
  kNamespaces,
  kUpstreamOperators,  // pods of the SR-IOV operator
  kUpstreamDaemons,    // pods of its config daemon
};
inline constexpr size_t kKnownKinds = 6;
enum class OptionalKind : uint8_t { kNetworks, kIbNetworks, kDefinitions, kOperatorConfigs, kPoolConfigs };
inline constexpr size_t kOptionalKinds = 5;

enum class Availability : uint8_t {
  kPending,    // not listed yet, and not refused
  kListed,     // once, and not refused since; an API server that does not answer changes nothing
  kAbsent,     // 404: its definition is not there
  kForbidden,  // 403
};
struct OptionalKindStatus {
  std::string name;  // of the kind
  Availability availability = Availability::kPending;
  std::string why;  // it is absent or forbidden
};

class Cluster {
 public:
  // `ns` has node states; policies are listed in all namespaces. `client` outlives this.
  Cluster(kube::Client& client, std::string ns);

  // Called in the thread of that kind's cache, which has the change already, in the order of registration.
  void observe(Known kind, kube::Informer::Observer observer);
  void observe(OptionalKind kind, kube::Informer::Observer observer);
  void start();
  void stop();

  // "SriovNetworkNodePolicy: 404 …" for each list in `Known` that is not known or not fed any more; empty when all are.
  // An API server that does not answer is none: what was known stays, and no write gets through either.
  std::string missing() const;
  std::vector<std::pair<std::string, kube::Informer::Health>> healths() const;  // by kind, the optional ones last
  OptionalKindStatus status(OptionalKind kind) const;
  // To list and watch each kind.
  static std::vector<kube::Right> rights();

  kube::Objects objects(Known kind) const;
  // Nothing while it is not listed: what is not known now is not gone.
  std::optional<kube::Objects> objects(OptionalKind kind) const;
  kube::ObjectPtr find(Known kind, const kube::ObjectKey& key) const;  // null where it is not there
  kube::ObjectPtr node(const std::string& name) const { return find(Known::kNodes, {"", name}); }
  kube::ObjectPtr node_state(const std::string& name) const { return find(Known::kNodeStates, {ns_, name}); }
  kube::ObjectPtr namespace_named(const std::string& ns) const { return find(Known::kNamespaces, {"", ns}); }
  kube::ObjectPtr own_namespace() const { return namespace_named(ns_); }
  const std::string& ns() const { return ns_; }

 private:
  struct Cache {
    Cache(std::string the_name, kube::Client& client, kube::InformerSettings settings);
    std::string name;
    std::vector<kube::Informer::Observer> observers;
    kube::Informer informer;
  };
  static size_t place(Known kind) { return static_cast<size_t>(kind); }
  static size_t place(OptionalKind kind) { return kKnownKinds + static_cast<size_t>(kind); }

  const std::string ns_;
  std::deque<Cache> caches_;  // as Known, then as OptionalKind
  std::vector<std::jthread> threads_;
};

}  // namespace railbed::controller
