// SPDX-License-Identifier: Apache-2.0
// Lines that were shifted, and by how many blanks: found by trying.
//
// Why: YAML tells that a line stands at a column where nothing is, and a schema that a field stands in the
// wrong object, but not which line is wrong: this one, or those above or below. The nearest column is often
// the wrong guess, and everything after it then moves along. So the ways in which a few lines near that place
// may have been shifted are all tried, each is read with the schemas, and a repair is offered only where one
// way alone gives a document that fits; where two give different documents, both are told. Threading: pure
// functions; `read` is called with parts of the text. Failure: no edits where a person has to decide, and
// none once the bytes that may be read for all trials of a run are used up.
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
