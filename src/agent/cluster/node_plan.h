// SPDX-License-Identifier: Apache-2.0
// The plan for this machine from its node state, and the resulting devices for pods.
//
// Why: a node in a cluster does what `up` does, from its node state instead of policies, and one thing more: a PF that
// is no longer in the state is restored to its state before railbed. Absence orders that only if it was decided:
// spec.interfaces exists, and the status that the operator decided on lists the PF. A state that is new and empty, or
// was written before the node reported its devices, orders nothing.
// Threading: pure functions.
// Failure: none; what cannot be done is refused or deferred in the plan.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/node_state.h"
#include "base/pf_baseline.h"
#include "graph/catalog.h"
#include "kubelet/device_offers.h"
#include "plan/plan.h"

namespace railbed::agent {

// Who has a VF of which the kubelet cannot be asked.
inline constexpr std::string_view kUnknownToKubelet = "(the kubelet does not report its pod)";

struct StateView {
  const api::SriovNetworkNodeState& state;
  const facts::NodeFacts& facts;
  const plan::InUse& in_use;
  const std::vector<PfBaseline>& baselines;
  const std::set<PciAddress>& listed;  // PFs that this state, or an earlier one that was carried out, had VFs of
  const graph::Options& options;
};

struct StatePlan {
  plan::NodePlan plan;                                               // what is wanted, and the way back of `given_back`
  std::vector<PfBaseline> given_back;                                // of PFs that the state has no longer
  std::set<std::string> without_topology, with_vhost_net, with_mad;  // resources
};

StatePlan plan_state(const StateView& view);

// VFs that are there now and that the plan's steps disturb: no pod may have them, or get them meanwhile.
std::set<PciAddress> disturbed_vfs(const plan::NodePlan& plan, const facts::NodeFacts& facts);

// Everything that the steps change: PFs whose VFs are made again, and VFs, those to be made included.
std::set<PciAddress> changing_devices(const plan::NodePlan& plan, const facts::NodeFacts& facts);

// All VFs that are there, as held by `holder`.
plan::InUse all_vfs(const facts::NodeFacts& facts, std::string_view holder);

// What pods can get as the machine is now: VFs that are there; those with steps left are not healthy.
kubelet::NodeDevices devices_now(const StatePlan& now, const facts::NodeFacts& facts);

}  // namespace railbed::agent
