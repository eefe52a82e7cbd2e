// SPDX-License-Identifier: Apache-2.0
// One mistake, one finding: a finding that only follows from another is folded into that one.
//
// Why: a policy that cannot be read makes its resource unknown to three networks and nine pods; the user has one
// mistake to fix.
// Threading: pure functions.
// Failure: none.
#pragma once

#include "doc/diagnostic.h"

namespace railbed::check {

// Merges duplicates (same id at the same place). A finding that something is missing becomes a note of the error that
// kept the text with that thing from being read.
void fold(doc::Diagnostics& findings);

// Drops the finding about a placeholder in a value when YAML has already failed at that placeholder.
void drop_second_placeholders(doc::Diagnostics& findings);

// Whether a field that has to be there is not, or is there without a value.
bool is_missing(const doc::Diagnostic& finding);

}  // namespace railbed::check
