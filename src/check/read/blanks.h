// SPDX-License-Identifier: Apache-2.0
// Indentation that looks right and is not: no-break spaces (U+00A0), from web pages and word processors.
//
// Why: YAML takes them for a part of the key, so one copied block gives a mistake per line, none of which names the
// cause.
// Threading: a pure function.
// Failure: none.
#pragma once

#include <string_view>

#include "doc/diagnostic.h"

namespace railbed::check {

inline constexpr std::string_view kNoBreak = "\xC2\xA0";

// Reports one finding per source, RB-YAML-005, at the first line indented with no-break spaces; its edits replace all
// of them by blanks. Returns whether there is any.
bool report_no_break_spaces(const doc::SourcePtr& source, doc::Diagnostics& out);

}  // namespace railbed::check
