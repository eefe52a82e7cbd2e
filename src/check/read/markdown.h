// SPDX-License-Identifier: Apache-2.0
// Splits a page of Markdown into fenced blocks and the text between them.
//
// Why: nothing else of Markdown matters here. Fences are ``` and ~~~ at any indentation, because list items,
// admonitions and tabs indent them. A row of ~ that underlines a line of text is a heading of another language, not a
// fence. Threading: pure functions; one pass, linear. Failure: none; a fence that is never closed extends to the end of
// the page. Source: CommonMark 0.31, "Fenced code blocks".
#pragma once

#include <string_view>
#include <vector>

#include "check/read/page.h"

namespace railbed::check {

std::vector<Block> split_markdown(std::string_view text);
// Whether the text has any fence: such a text file is read as Markdown.
bool has_fence(std::string_view text);

}  // namespace railbed::check
