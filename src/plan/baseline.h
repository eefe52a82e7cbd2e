// SPDX-License-Identifier: Apache-2.0
// The steps back to how PFs were before railbed touched them.
//
// Why: `down` gives a machine back as it was found, VF counts, drivers, MTUs and modes. PfBaseline is recorded
// (by whoever carries plans out) before the first step on a PF. Threading: pure functions. Failure: none;
// changes that would take VFs from pods are held back as in plan.h.
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
