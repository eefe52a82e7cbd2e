// SPDX-License-Identifier: Apache-2.0
// The pages that explain findings (docs/check/*.md, docs/findings/*.md), as files compiled into the program.
//
// Why: `railbed explain` and the documents share one text.
// Threading: immutable.
// Failure: none; the content of a page is checked by a test.
#pragma once

#include <span>
#include <string_view>

namespace railbed::findings {

struct Page {
  std::string_view name;  // "docs/check/addresses.md"
  std::string_view text;
};

// In the order of their names.
std::span<const Page> pages();

}  // namespace railbed::findings
