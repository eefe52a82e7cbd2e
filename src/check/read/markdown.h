// SPDX-License-Identifier: Apache-2.0
// Splits a page into fenced blocks and the text between them.
//
// Why: manifests and commands of a page are in fences, and everything else is prose; nothing else of Markdown matters
// here. Fences are ``` and ~~~ (CommonMark), at any indentation because list items indent them, and the listing blocks
// of AsciiDoc (a line of dashes after `[source,yaml]`).
// Threading: pure functions; one pass, linear.
// Failure: none; a fence that is never closed extends to the end of the page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::check {

struct Block {
  size_t begin = 0;  // of the content, in bytes
  size_t end = 0;
  bool fence = false;
  size_t indent = 0;      // columns before the fence, which its lines have as well
  std::string_view info;  // "yaml" for "```yaml title=x"; empty without a word
  size_t opening = 0;     // where the fence itself begins
  bool closed = true;
};

std::vector<Block> split_page(std::string_view text);
// Whether the text has any fence: such a text file is read as Markdown.
bool has_fence(std::string_view text);

// A line without its end ('\n', "\r\n"); `next` is where the following one begins.
struct PageLine {
  std::string_view text;
  size_t begin = 0;
  size_t next = 0;
};
// The line that begins at `at`, up to `end`.
PageLine line_at(std::string_view text, size_t at, size_t end);

// What the first word behind a fence says about its content.
enum class BlockLanguage { kManifest, kShell, kConsole, kUnsaid, kOther };
BlockLanguage language_of(std::string_view info);

}  // namespace railbed::check
