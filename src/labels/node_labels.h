// SPDX-License-Identifier: Apache-2.0
// The labels and annotations of a Node by its hardware and by what pods can get on it.
//
// Why: policies select nodes by them before railbed has changed anything, jobs when it has. The labels of node feature
// discovery (NFD) have the meaning that they have there, so that a cluster with NFD and one without select the same
// nodes; rdma.* is written under both names, because NFD's versions differ.
// Threading: pure functions.
// Failure: none. A fact that is unknown or malformed (a vendor that is not four hexadecimal digits) has no label.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts/node_facts.h"

namespace railbed::labels {

// A VF that the kubelet may give to a pod, or has given.
struct OfferedVf {
  PciAddress pf;
  bool rdma = false;
  bool healthy = true;
  friend bool operator==(const OfferedVf&, const OfferedVf&) = default;
};
using Offered = std::map<std::string, std::vector<OfferedVf>>;  // by resource

// What the node's slowest rail carried.
struct Measured {
  double gbps = 0;
  std::string at;  // RFC 3339
};

struct NodeLabels {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  friend bool operator==(const NodeLabels&, const NodeLabels&) = default;
};

// Only keys of the table (node_keys.h). `measured` is empty where nothing was measured since the boot.
NodeLabels node_labels(const facts::NodeFacts& facts, const Offered& offered,
                       const std::optional<Measured>& measured = {});

}  // namespace railbed::labels
