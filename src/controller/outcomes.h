// SPDX-License-Identifier: Apache-2.0
// What became of policies on nodes, kept by node and by policy.
//
// Why: a node is decided for itself, and a policy's status is about all nodes: the status of a policy is then made
// without a look at nodes that have nothing to do with it. After a start, a status is written only once all nodes have
// been decided: before, it would say half of the truth. Threading: any thread. Failure: none.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "controller/policy_status.h"

namespace railbed::controller {

class Outcomes {
 public:
  // All outcomes of a node; returns the policies about which something is new.
  std::vector<std::string> put(const std::string& node, std::vector<NodeOutcome> outcomes);
  std::vector<NodeOutcome> of(const std::string& policy) const;  // by node

  // These nodes are to be decided, whatever was known of them.
  void expect(std::set<std::string> nodes);
  void decided(const std::string& node);
  bool are_complete() const;

 private:
  using ByNode = std::map<std::string, NodeOutcome>;
  mutable std::mutex mutex_;
  std::map<std::string, ByNode> by_policy_;
  std::map<std::string, std::vector<std::string>> policies_of_;  // by node
  std::set<std::string> undecided_;
};

}  // namespace railbed::controller
