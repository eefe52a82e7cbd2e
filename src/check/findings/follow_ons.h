// SPDX-License-Identifier: Apache-2.0
// Findings that another finding of the same object explains.
//
// Why: a policy that selects by the id of VFs matches no NIC; the user has one mistake to fix, and the rule that knows
// the cause says more than the graph, which sees only that nothing matched.
// Threading: a pure function.
// Failure: none.
#pragma once

#include "check/read/bundle.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// A finding that another one explains becomes a note of that one. Places refer to the texts that `bundle` was read
// from.
void fold_follow_ons(const Bundle& bundle, doc::Diagnostics& findings);

}  // namespace railbed::check
