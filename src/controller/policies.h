// SPDX-License-Identifier: Apache-2.0
// The policies as they are now, parsed and indexed once for all nodes.
//
// Why: a change of one policy concerns many nodes, and each of them is decided from the same set. Threading: any
// thread. Failure: none; PolicySet says which policies cannot be read.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "controller/cluster.h"
#include "controller/policy_set.h"
#include "controller/upstream.h"

namespace railbed::controller {

class Policies {
 public:
  // Both outlive this.
  Policies(Cluster& cluster, const Upstream& upstream, std::string resource_prefix);

  // A policy has changed: the next set() is parsed again.
  void changed();
  // Also where other namespaces are served since.
  std::shared_ptr<const PolicySet> set();
  // Whether the last set that was asked for had not one policy.
  bool were_none() const;

 private:
  Cluster& cluster_;
  const Upstream& upstream_;
  const std::string resource_prefix_;
  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  std::shared_ptr<const PolicySet> set_;
};

}  // namespace railbed::controller
