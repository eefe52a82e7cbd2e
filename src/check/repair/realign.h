// SPDX-License-Identifier: Apache-2.0
// Finds by trial which lines were shifted, and by how many blanks.
//
// Why: YAML reports that a line begins at an unexpected column, and a schema that a field is in the wrong object, but
// not which line is wrong: this one, or those above or below. The nearest column is often the wrong guess, and
// everything after it then moves along. So all ways in which a few nearby lines may have been shifted are tried, each
// result is read with the schemas, and a repair is offered only if exactly one of them gives a valid document; if two
// give different documents, both are reported.
// Threading: pure functions; `read` is called with parts of the text.
// Failure: no edits if the user has to decide, and none once the byte limit for all trials of a run is used up.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/read/bundle.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// A text read without repairs.
struct Trial {
  Bundle bundle;
  doc::Diagnostics findings;
};
using TryText = std::function<Trial(const doc::SourcePtr&)>;

// Gives findings RB-YAML-002 (wrong indentation) and RB-API-003 (belongs elsewhere) the edits and the text of the only
// possible repair, and removes the edits of findings with several or none. `bytes` is how much may still be read (a
// full reading counts eight times, because it takes so long).
void realign(doc::Diagnostics& findings, const TryText& read, size_t& bytes);

}  // namespace railbed::check
