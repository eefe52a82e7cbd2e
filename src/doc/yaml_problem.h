// SPDX-License-Identifier: Apache-2.0
// Explains what libyaml cannot parse: which column the neighbours use, which quote is open, which character needs
// quotes.
//
// libyaml reports where it gave up and what it expected in terms of its grammar ("did not find expected key"). The
// cause is usually a line above or a typical slip (a tab, a placeholder in braces); it is guessed here from the
// surrounding lines.
// Threading: pure function.
// Failure: none; without a guess libyaml's own message is used.
#pragma once

#include <optional>
#include <string>

#include "doc/diagnostic.h"
#include "doc/text.h"

namespace railbed::doc {

struct YamlProblem {
  std::string problem;  // libyaml's message
  std::string context;  // what it was parsing; may be empty
  size_t offset = 0;    // in the source
  std::optional<size_t> context_offset;
  size_t document_offset = 0;  // where this document begins
};

void explain(const YamlProblem& problem, const SourcePtr& source, const LineIndex& index, Diagnostics& diagnostics);

}  // namespace railbed::doc
