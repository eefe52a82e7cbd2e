// SPDX-License-Identifier: Apache-2.0
// Indentation that looks right and is not: no-break spaces (U+00A0), as web pages and word processors give
// them.
//
// Why: YAML takes them for a part of the key, so that one copied block gives a mistake per line, none of
// which names the cause. Threading: a pure function. Failure: none.
#pragma once

#include "doc/diagnostic.h"

namespace railbed::check {

// One finding per source, RB-YAML-005, at the first line that is indented so; its edits put blanks in the
// place of all. Whether there is one.
bool tell_no_break_spaces(const doc::SourcePtr& source, doc::Diagnostics& out);

}  // namespace railbed::check
