// SPDX-License-Identifier: Apache-2.0
// Texts of the same length in which what is not YAML cannot break it: callouts, preprocessor lines, snippets, marks of
// engines where a value begins, variables alone on a line.
//
// Why: pages and scripts put lines into their code that another program replaces before anyone applies it. A line that
// is nothing else becomes a comment, a mark in the place of a value a plain word, so that the rest is read and every
// location stays.
// Threading: pure functions; linear.
// Failure: none.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "check/read/page.h"
#include "doc/value.h"

namespace railbed::check {

struct PageText {
  doc::SourcePtr source;     // the given one where nothing was changed
  std::set<size_t> partial;  // where blocks begin from which lines were taken
};
PageText readable_page(const doc::SourcePtr& given, PageLanguage language, const std::vector<Block>& blocks);

// Whether a block of readable_page() has lines that say that others were left out.
bool leaves_lines_out(std::string_view block);

// A script: variables and substitutions alone on a line of a here-document, and what the shell unescapes in one
// (`\$` is `$`), as in readable_page().
doc::SourcePtr readable_script(const doc::SourcePtr& given);

// A file of manifests that is not valid YAML: marks of engines that do so. The given one where there is none.
doc::SourcePtr without_marks(const doc::SourcePtr& given);

}  // namespace railbed::check
