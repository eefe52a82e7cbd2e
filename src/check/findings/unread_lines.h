// SPDX-License-Identifier: Apache-2.0
// What a mistake of YAML hides: the lines of its document, which no rule has seen.
//
// Why: an error in line 3 of a document of 200 lines looks like one mistake, and the others appear one run later.
// Documents behind the next "---" are read.
// Threading: pure functions.
// Failure: none.
#pragma once

#include "check/read/bundle.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Adds to the first error of each document of a YAML file that could not be read which lines are not checked.
void note_unread_lines(const Bundle& bundle, doc::Diagnostics& findings);

}  // namespace railbed::check
