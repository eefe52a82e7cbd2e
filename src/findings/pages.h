// SPDX-License-Identifier: Apache-2.0
// The pages that explain findings (docs/check/*.md, docs/findings/*.md), as files compiled into the program.
//
// Why: `railbed explain` and the documents share one text.
// Threading: immutable.
// Failure: none; the content of a page is checked by a test.
#pragma once

#include <span>

#include "base/embed.h"

namespace railbed::findings {

// In the order of their names: "docs/check/addresses.md".
std::span<const EmbeddedFile> pages();

}  // namespace railbed::findings
