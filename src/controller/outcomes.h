// SPDX-License-Identifier: Apache-2.0
// The outcomes of policies on nodes, indexed by node and by policy.
//
// Why: a node is decided by itself, and a policy's status is about all nodes: the index builds the status of a policy
// without examining unrelated nodes.
// Threading: any thread.
// Failure: none.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "controller/policy_status.h"

namespace railbed::controller {

class Outcomes {
 public:
  // All outcomes of a node; returns the policies about which something is new.
  std::vector<std::string> put(const std::string& node, std::vector<NodeOutcome> outcomes);
  std::vector<NodeOutcome> of(const std::string& policy) const;  // by node

 private:
  using ByNode = std::map<std::string, NodeOutcome>;
  mutable std::mutex mutex_;
  std::map<std::string, ByNode> by_policy_;
  std::map<std::string, std::vector<std::string>> policies_of_;  // by node
};

}  // namespace railbed::controller
