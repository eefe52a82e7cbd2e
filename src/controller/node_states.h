// SPDX-License-Identifier: Apache-2.0
// The operator's decision for one node's SriovNetworkNodeState.
//
// Why: the spec of a node state can remove VFs as well as create them, so missing information is never a reason to
// write: a status that does not list the NICs yet, a policy that cannot be read, no policies at all, the SR-IOV
// operator running alongside. The spec is resolved by the same graph code as `railbed up` uses, against the NICs in the
// node's status and the labels of the Node. A node state without its node is retained for a while, with the SR-IOV
// operator's annotation: nodes come back.
// Threading: pure.
// Failure: none; NodeDecision::held has the reason why nothing is written.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "controller/policy_set.h"
#include "controller/policy_status.h"
#include "doc/value.h"
#include "kube/clock.h"
#include "kube/kinds.h"

namespace railbed::controller {

inline constexpr std::string_view kFieldManager = "railbed-operator";
// On a node state, "true": there are no policies on purpose, its VFs may go. Taken off when that was done.
inline constexpr std::string_view kConfirmEmpty = "railbed.dev/confirm-no-policies";

// Whether specs follow when the last policy has gone.
enum class WithoutPolicies : uint8_t { kKeepSpecs, kEmptySpecs };

struct NodeView {
  std::string name;
  std::string ns;                     // of node states
  const doc::Value* node = nullptr;   // null: there is none, or its labels are not those that the operator looks after
  const doc::Value* state = nullptr;  // as it is stored; null: there is none
  bool upstream_operator = false;     // the SR-IOV operator runs
  bool upstream_daemon = false;       // and its config daemon on this node
  WithoutPolicies without_policies = WithoutPolicies::kKeepSpecs;
  std::chrono::seconds keep{1800};  // a state without its node
  kube::WallTime now{};
  // What configuration and pool say of the node (cluster_settings.h).
  std::string left_alone = {};  // why it is left as it is; empty: it is not
  std::optional<int> log_level = {};
  std::string rdma_mode = {};
  std::string drain = {};  // what its drain waits for (drains.h); empty: nothing
};

struct NodeDecision {
  enum class Action : uint8_t {
    kNone,
    kApply,  // `body` is the whole object
    kPatch,  // `body` is a merge patch that holds for one resourceVersion
    kDelete,
  };
  Action action = Action::kNone;
  doc::Value body;
  std::string what;                           // of the action, for the log: "its spec, 2 PFs"
  std::string held;                           // why nothing is written although the spec is not known to be right
  std::optional<std::chrono::seconds> again;  // time alone will change the decision
  std::vector<NodeOutcome> outcomes;          // of the policies that select this node, by policy
};

NodeDecision decide(const NodeView& view, const PolicySet& policies);

// Cuts a node state down to what decide() reads: most of one are VFs.
kube::Trim node_state_trim();
// Of a Node: name, uid and labels, what cell_reclaim.h asks (machine, boot, taints, conditions), and what drains do:
// cordons, since when it is not ready, who else maintains it.
kube::Trim node_trim();

}  // namespace railbed::controller
