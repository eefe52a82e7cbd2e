// SPDX-License-Identifier: Apache-2.0
// What libyaml cannot read, told in words that help: which column the neighbours use, which quote is open,
// which character needs quotes.
//
// libyaml reports where it gave up and what it wanted in terms of its grammar ("did not find expected key").
// The cause is usually a line above or a habit (a tab, a placeholder in braces); it is guessed here from the
// lines around. Threading: pure function. Failure: none; without a guess libyaml's own words are used.
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
