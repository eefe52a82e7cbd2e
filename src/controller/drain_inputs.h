// SPDX-License-Identifier: Apache-2.0
// What the decisions of drains (src/drain) read of a cluster's objects, and how their answers become writes.
//
// Why: an agent reports `Held` for a policy whose change would take VFs from pods. Which pods that are is decided here,
// by the spec that the operator wrote: the resources of that policy on this node, and where a whole PF is made again,
// all resources of that PF. What a report can cause is thus limited to pods of its own node with VFs of this spec.
// Spec: policy/v1 Eviction and its refusals; NodeSpec.taints.
// Threading: pure.
// Failure: none; what cannot be read counts as not known.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_state.h"
#include "controller/cluster_settings.h"
#include "drain/step.h"
#include "drain/waves.h"
#include "kube/api_error.h"

namespace railbed::controller {

// On a node state: what its drain waits for, "Evicting: pod ai/train-0: …".
inline constexpr std::string_view kDrainCondition = "railbed.dev/drain-condition";
// On a pool, a duration: nodes that are down or cordoned for longer do not count against its bound.
inline constexpr std::string_view kIgnoreUnavailable = "railbed.dev/ignore-unavailable-after";

// The change that a node's pods are in the way of.
struct WaitingChange {
  bool known = false;  // the agent has reported on the stored spec
  std::string id;      // "generation 7"; empty: none waits
  drain::Resources resources = {};
  friend bool operator==(const WaitingChange&, const WaitingChange&) = default;
};
WaitingChange waiting_change(const api::SriovNetworkNodeState& state, std::string_view resource_prefix);
// Whether a node state can concern drains at all; the others, which are most, need not be read.
bool may_concern_drains(const doc::Value& node_state);

// Condition, taints, and who else maintains it. What is not said counts as well.
struct NodeHealth {
  bool ready = true;
  bool cordoned = false;
  bool tainted = false;        // with drain::kRestartTaint
  drain::Time not_ready = {};  // since
  std::vector<std::string> others = {};
  friend bool operator==(const NodeHealth&, const NodeHealth&) = default;
};
NodeHealth node_health(const doc::Value& node);

// Why no pod is evicted; nothing: pods are. `wanted`: the operator's --drain. An empty text: neither a configuration
// nor the option asks for drains.
std::optional<std::string> why_no_drains(const ConfigChoice& config, bool wanted);

// Of a pool, as the decisions know it, without its nodes.
drain::PoolView drain_pool(const api::SriovNetworkPoolConfig& pool);
bool evicts_bare_pods(const api::SriovNetworkPoolConfig& pool);
// All nodes in `nodes`, by name, in their pools. Those in no pool are one, with one node at a time; those in several
// are one whose bound is 0.
std::vector<drain::PoolView> drain_pools(const Settings& settings, const std::map<std::string, drain::NodeView>& nodes);

// An answer to an eviction.
drain::EvictionSeen eviction_seen(const kube::Answer<void>& answer, drain::Time now);

// A merge patch that sets railbed's own taint on a Node as it was read, or takes it off; nothing where there is nothing
// to do. Other taints stay, and it holds for this resourceVersion.
std::optional<doc::Value> taint_patch(const doc::Value& node, bool wanted);
// The same of the annotations of a node state: the stored state, and what it waits for.
std::optional<doc::Value> drain_patch(const doc::Value& node_state, const std::string& drain,
                                      const std::string& condition);
// "Evicting: pod …", or what is stored where the difference is not worth a write: other words for the same wait.
std::string condition_text(const drain::Step& step, const std::string& stored);

}  // namespace railbed::controller
