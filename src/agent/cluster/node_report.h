// SPDX-License-Identifier: Apache-2.0
// What a node reports in the status of its node state.
//
// Why: users, the operator and tools for the SR-IOV operator read from it what the node has, whether its spec is
// applied, and why not. Applied and failed changes are reported by policy; all of it is also in lastSyncError, for
// definitions that prune railbed's keys. It does not reflect starting and ending pods: a VF that a pod has is reported
// in its previous state, so that pods cause no writes.
// Threading: pure functions.
// Failure: none.
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
  std::vector<api::NodeStateCondition> conditions = {};
  std::string rdma_mode = {};  // of the machine; empty: no pool asks for one
};

// conditions, interfaces, syncStatus, lastSyncError, observedGeneration, policies.
api::SriovNetworkNodeState status_of(NodeReport report);

// `found`, but for what is held by pods: as reported last. `reported` may be empty.
std::vector<api::FoundNic> steady_nics(std::vector<api::FoundNic> found, const std::vector<api::FoundNic>& reported,
                                       const std::set<PciAddress>& held);

// "a; b", cut between two of them; longer than `bytes` by the words "(and 3 more)" at most.
std::string joined_up_to(size_t bytes, const std::vector<std::string>& texts);

// "ens1f0: create 4 VFs: write /sys/…: EBUSY (Device or resource busy); ens1f0 keeps 2 VFs"
std::string failure_text(const apply::StepFailure& failure);

}  // namespace railbed::agent
