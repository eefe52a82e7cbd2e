// SPDX-License-Identifier: Apache-2.0
// The edits that move a field to the object it belongs to.
//
// Why: `isRdma` indented one level too deep is the most common mistake in practice, and its repair is the same change
// every time: these lines, there, with that indentation. The schema says where a field belongs.
// Threading: pure functions.
// Failure: no edits if the user has to decide (JSON, flow style, several candidates).
#pragma once

#include <span>

#include "check/read/bundle.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Adds edits to findings RB-API-003 ("belongs elsewhere") that have none.
void add_moves(std::span<const Document> documents, doc::Diagnostics& findings);

}  // namespace railbed::check
