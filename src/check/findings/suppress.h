// SPDX-License-Identifier: Apache-2.0
// `# railbed: ignore RB-ADDR-001 the lab has no router`: findings that the user has suppressed.
//
// A comment at the end of a line applies to that line; one on its own line to the next line and everything indented
// below it, and before the first line of a document to the whole document. In Markdown the same text is written in <!--
// … -->. Only the first thousand of a file are used.
// Threading: pure functions.
// Failure: findings RB-IGNORE-001 (nothing to ignore), 002 (no reason given) and 003 (no such rule).
#pragma once

#include <functional>
#include <vector>

#include "check/check.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Removes the findings that the sources say to ignore and returns how many.
size_t suppress(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& findings);

// The same, and reports comments that are not needed. `known` says whether an id is one of ours. What is removed
// goes to `ignored`, if there is one, with its reason.
size_t suppress(const std::vector<doc::SourcePtr>& sources, const std::function<bool(std::string_view)>& known,
                doc::Diagnostics& findings, std::vector<Ignored>* ignored = nullptr);

}  // namespace railbed::check
