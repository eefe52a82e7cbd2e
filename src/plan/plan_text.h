// SPDX-License-Identifier: Apache-2.0
// A plan for people: steps in order with their reason and the disrupted workloads, with VFs that get the same treatment
// in one line; then the deferred changes, policies, resources and pods.
//
// Threading: pure function.
// Failure: none.
#pragma once

#include <string>

#include "plan/step.h"

namespace railbed::plan {

std::string to_text(const NodePlan& plan);

}  // namespace railbed::plan
