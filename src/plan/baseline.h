// SPDX-License-Identifier: Apache-2.0
// The steps that restore PFs to their state before railbed changed them.
//
// Why: `down` restores a machine to its original state: VF counts, drivers, MTUs and modes. The component that applies
// plans records PfBaseline before the first step on a PF.
// Threading: pure functions.
// Failure: none; changes that would take VFs from pods are deferred as in plan.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/pf_baseline.h"
#include "facts/node_facts.h"
#include "plan/plan.h"

namespace railbed::plan {

// Steps back to the baselines; a PF without one is left alone. The result has no policies, resources or pods.
NodePlan plan_to_baseline(const std::vector<PfBaseline>& baselines, const facts::NodeFacts& facts, const InUse& in_use,
                          const Options& options = {});

}  // namespace railbed::plan
