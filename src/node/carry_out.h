// SPDX-License-Identifier: Apache-2.0
// Applies a plan to this machine, and updates the state afterwards.
//
// Why: `up`, `down` and the agent's loop over a node state do the same: records of failed steps belong to the last
// plan, and the baseline of a PF that is restored to its original state is no longer needed.
// Threading: as apply::carry_out().
// Failure: an Error if the store fails; failures of the plan are in the report.
#pragma once

#include <vector>

#include "apply/apply.h"
#include "state/store.h"

namespace railbed::node {

struct Carried {
  apply::Report applied;
  // Of `restoring`, those that are as they were: their baseline and steps are forgotten. The others, which failed, wait
  // for pods or were not tried, keep theirs for the next attempt.
  std::vector<PciAddress> restored;
};

// `restoring`: PFs that the plan brings back to their baseline.
Result<Carried> carry_out(os::Kernel& kernel, state::Store& store, const plan::NodePlan& plan,
                          const std::vector<PfBaseline>& restoring, const apply::Options& options,
                          apply::Progress& progress);

}  // namespace railbed::node
