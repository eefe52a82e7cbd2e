// SPDX-License-Identifier: Apache-2.0
// All policies of the operator's namespace, read once for all nodes.
//
// Why: what does not depend on a node is computed once; a node then queries what concerns it. A stored policy that
// cannot be read is not an order to remove its VFs: it is retained here, by its nodeSelector, and the nodes that it
// selects are not changed until it is fixed or deleted.
// Threading: immutable after the constructor.
// Failure: unreadable().
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

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

  // `version` is for whoever keeps several of them apart.
  PolicySet(const kube::Objects& stored, const graph::Options& options, uint64_t version = 0);
  PolicySet(const PolicySet&) = delete;
  PolicySet& operator=(const PolicySet&) = delete;

  const graph::Catalog& catalog() const { return catalog_; }
  const std::vector<Unreadable>& unreadable() const { return unreadable_; }
  // Not one policy that asks for anything.
  bool empty() const;
  uint64_t version() const { return version_; }

 private:
  api::Objects objects_;
  std::vector<Unreadable> unreadable_;
  graph::Catalog catalog_;
  uint64_t version_;
};

// spec.nodeSelector of a stored policy, readable or not.
graph::Labels node_selector_of(const doc::Value& policy);
// Whether two versions of a policy ask for the same: a status that was written changes nothing.
bool asks_the_same(const doc::Value& before, const doc::Value& after);

}  // namespace railbed::controller
