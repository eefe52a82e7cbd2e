// SPDX-License-Identifier: Apache-2.0
// The steps of one PF, in order, with their journal.
//
// Threading: one thread per PF; the store serialises.
// Failure: see apply.h; here a failure of the store also ends the work on the PF, before the step: a step that cannot
// be recorded is not run.
#pragma once

#include <optional>

#include "apply/apply.h"

namespace railbed::apply {

struct PfReport {
  size_t steps_done = 0;
  std::optional<StepFailure> failure;
  std::vector<std::string> notes;
  bool canceled = false;
};

PfReport run_pf(os::Kernel& kernel, state::Store& store, const plan::PfPlan& pf, const Options& options,
                Progress& progress);

}  // namespace railbed::apply
