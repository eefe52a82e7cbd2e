// SPDX-License-Identifier: Apache-2.0
// Which privileges a run needs, and for what.
//
// Why: without them the first step would fail part-way; so they are checked before anything is changed, and the message
// names the steps.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "plan/step.h"

namespace railbed::node {

struct Need {
  std::string capability;  // "CAP_NET_ADMIN"
  std::string what_for;    // "9 steps write to /sys (first: ens1f0: create 4 VFs)"
};

// `attachments` is the number of interfaces of pods to attach or detach.
std::vector<Need> needs_of(const plan::NodePlan& plan, size_t attachments);

// The error of a run without some of the capabilities; success when none is missing.
Result<void> check_privileges(const std::vector<Need>& needs, const std::vector<std::string>& missing);

}  // namespace railbed::node
