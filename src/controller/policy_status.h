// SPDX-License-Identifier: Apache-2.0
// The outcome of a policy over all nodes, as its status: where it applies, and why not.
//
// Why: the SR-IOV operator leaves a policy's status empty, so users do not learn that it matched nothing, was shadowed
// by another, or failed at a step. A cluster with a thousand nodes must not store a thousand lines: only nodes that are
// not done are listed, at most kListedNodes. Texts come from nodes, each of which may write arbitrary content: they are
// sanitized and truncated, each and all together, so that no node can prevent the status from being written.
// Spec: status of SriovNetworkNodePolicy in src/schema/data/sriov.yaml; conditions as metav1.Condition.
// Threading: pure.
// Failure: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"
#include "graph/outcome.h"

namespace railbed::controller {

inline constexpr size_t kListedNodes = 50;
inline constexpr size_t kLongestText = 1024;         // bytes of one text of a node
inline constexpr size_t kLongestTexts = 32u * 1024;  // bytes of all of them

// What a node has written, as it is copied: without control characters, cut at kLongestText.
std::string copied_text(std::string_view text);

// What a node reports about its node state.
enum class NodeProgress : uint8_t {
  kNotYet,  // its agent has not carried out the spec that the operator wrote last
  kDone,
  kFailed,
};

struct NodeOutcome {
  std::string node;
  graph::PolicyOutcome outcome;  // by the operator's resolution, or the node's own where that refused more
  NodeProgress progress = NodeProgress::kNotYet;
  std::string error;  // of kFailed: the step, and errno where there is one
  friend bool operator==(const NodeOutcome&, const NodeOutcome&) = default;
};

struct PolicyView {
  int64_t generation = 0;          // metadata.generation of the policy
  doc::Value status;               // as stored; null where there is none
  std::string_view now;            // RFC 3339, for a condition that changes
  std::vector<NodeOutcome> nodes;  // by name
};

// The whole status. Equal to `view.status` where there is nothing to write.
doc::Value policy_status(const PolicyView& view);

}  // namespace railbed::controller
