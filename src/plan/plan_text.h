// SPDX-License-Identifier: Apache-2.0
// A plan for people: steps in order with their reason and whom they disturb, VFs that get the same treatment
// in one line; then what is held back, policies, resources and pods.
//
// Threading: pure function. Failure: none.
#pragma once

#include <string>

#include "plan/step.h"

namespace railbed::plan {

std::string to_text(const NodePlan& plan);

}  // namespace railbed::plan
