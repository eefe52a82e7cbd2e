// SPDX-License-Identifier: Apache-2.0
// All policies of the namespaces that the operator serves, read once for all nodes.
//
// Why: what does not depend on a node is computed once; a node then queries what concerns it. A stored policy that
// cannot be read is not an order to remove its VFs: it is retained here, by its nodeSelector, and the nodes that it
// selects are not changed until it is fixed or deleted. Nor is one whose namespace an SR-IOV operator has taken back:
// it is known here by its name, and nodes that have VFs by that name keep them. Threading: immutable after the
// constructor. Failure: unreadable().
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/policy_namespaces.h"
#include "graph/catalog.h"
#include "graph/selector.h"
#include "kube/cache.h"

namespace railbed::controller {

class PolicySet {
 public:
  struct Unreadable {
    std::string key;  // "namespace/name"
    graph::Labels node_selector;
    std::string why;
  };

  struct Taken {
    std::string key, name;
    graph::Labels node_selector;
    std::string why;  // it does not count
  };

  // `version` is for callers that distinguish several of them. Without `namespaces` all are served.
  PolicySet(const kube::Objects& stored, const graph::Options& options, uint64_t version = 0,
            std::optional<PolicyNamespaces> namespaces = std::nullopt);
  PolicySet(const PolicySet&) = delete;
  PolicySet& operator=(const PolicySet&) = delete;

  const graph::Catalog& catalog() const { return catalog_; }
  const std::vector<Unreadable>& unreadable() const { return unreadable_; }
  const std::vector<Taken>& taken() const { return taken_; }
  const std::optional<PolicyNamespaces>& namespaces() const { return namespaces_; }
  // Not one policy that asks for anything.
  bool empty() const;
  uint64_t version() const { return version_; }

 private:
  api::Objects objects_;
  std::vector<Unreadable> unreadable_;
  std::vector<Taken> taken_;
  graph::Catalog catalog_;
  uint64_t version_;
  std::optional<PolicyNamespaces> namespaces_;
};

// spec.nodeSelector of a stored policy, readable or not.
graph::Labels node_selector_of(const doc::Value& policy);
// Whether two versions of a policy ask for the same: a status that was written changes nothing.
bool asks_the_same(const doc::Value& before, const doc::Value& after);

}  // namespace railbed::controller
