// SPDX-License-Identifier: Apache-2.0
// `# railbed: ignore RB-ADDR-001 the lab has no router`: findings that a person has decided about.
//
// A comment behind a line is about that line; one on a line of its own about the next line and all that is
// indented below it, and before the first line of a document about the whole document. In Markdown the same
// words stand in <!-- … -->. The first thousand of a file count. Threading: pure functions. Failure: findings
// RB-IGNORE-001 (nothing to ignore), 002 (no reason given) and 003 (no such rule).
#pragma once

#include <functional>
#include <vector>

#include "doc/diagnostic.h"

namespace railbed::check {

// Removes the findings that the sources say to ignore and returns how many.
size_t suppress(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& findings);

// The same, and tells about comments that are not needed. `known` says whether an id is one of ours.
size_t suppress(const std::vector<doc::SourcePtr>& sources, const std::function<bool(std::string_view)>& known,
                doc::Diagnostics& findings);

}  // namespace railbed::check
