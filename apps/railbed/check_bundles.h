// SPDX-License-Identifier: Apache-2.0
// The sources of a check in the bundles that are checked together, and one report of all.
//
// Why: environments of a project file exclude each other, and so do folders that define one object differently.
// Threading: one thread. Failure: none.
#pragma once

#include <vector>

#include "check/check.h"
#include "check_run.h"

namespace railbed {

// Each environment is checked with the files that belong to none, whose findings and objects count once. Texts without
// a finding are released as soon as nothing else of the run has them.
check::Report check_bundles(std::vector<doc::SourcePtr> sources, const std::vector<facts::NodeFacts>& nodes,
                            const CheckOptions& options);

}  // namespace railbed
