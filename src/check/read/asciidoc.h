// SPDX-License-Identifier: Apache-2.0
// Splits a page of AsciiDoc into blocks of code and the text between them.
//
// Why: listings are delimited by a row of dashes, literal blocks by a row of dots; the same rows underline headings of
// the older style. Comments are no text.
// Threading: pure functions; one pass, linear.
// Failure: none; a block that is never closed extends to the end of the page.
// Source: the AsciiDoc language documentation, "Delimited Blocks", "Source Code Blocks", "Section Titles".
#pragma once

#include <string_view>
#include <vector>

#include "check/read/page.h"

namespace railbed::check {

// The language of a block that is a comment.
inline constexpr std::string_view kPageComment = "////";

std::vector<Block> split_asciidoc(std::string_view text);

}  // namespace railbed::check
