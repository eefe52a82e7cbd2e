// SPDX-License-Identifier: Apache-2.0
// What a node tells in the status of its node state.
//
// Why: people, the operator and tools that were made for the SR-IOV operator learn from it what the node has, whether
// its spec is carried out, and why not. What was carried out and what was not is told by policy; all of it stands in
// lastSyncError too, for definitions that prune keys of ours. It says nothing of pods that come and go: a VF that a pod
// has is told as it was before, so that pods cost no writes.
// Threading: pure functions. Failure: none.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/node_state.h"
#include "node/carry_out.h"
#include "plan/step.h"

namespace railbed::agent {

enum class SyncPhase : uint8_t {
  kCarryingOut,
  kEnded,
};

struct NodeReport {
  SyncPhase phase = SyncPhase::kEnded;
  int generation = 0;               // of the spec that is carried out; 0: none yet
  std::vector<api::FoundNic> nics;  // from steady_nics()
  const plan::NodePlan& plan;       // what is left to do, and what is held back
  const std::vector<apply::StepFailure>& failures;
  std::vector<std::string> problems;  // what else is wrong: a spec that cannot be read
  std::vector<std::string> waits;     // why something is not done yet, beside what is held back
};

// interfaces, syncStatus, lastSyncError, observedGeneration, policies.
api::SriovNetworkNodeState status_of(NodeReport report);

// `found`, but for what is held by pods: as told last. `told` may be empty.
std::vector<api::FoundNic> steady_nics(std::vector<api::FoundNic> found, const std::vector<api::FoundNic>& told,
                                       const std::set<PciAddress>& held);

// "ens1f0: create 4 VFs: write /sys/…: EBUSY (Device or resource busy); ens1f0 keeps 2 VFs"
std::string failure_text(const apply::StepFailure& failure);

}  // namespace railbed::agent
