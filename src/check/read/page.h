// SPDX-License-Identifier: Apache-2.0
// A page of documentation as blocks of code and the text between them, whatever language it is written in.
//
// Why: manifests and commands of a page are in its blocks of code, and everything else is prose. What opens a block
// differs by language: `~~~~` is a fence in Markdown and underlines a heading in reStructuredText. So each language has
// its reader (markdown.h, rst.h, asciidoc.h), chosen by the file's ending, and all of them give Blocks.
// Threading: pure functions; one pass, linear.
// Failure: none; a block that is never closed extends to the end of the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::check {

struct Block {
  size_t begin = 0;  // of the content, in bytes
  size_t end = 0;
  bool fence = false;
  size_t indent = 0;      // columns before the block, which its lines have as well
  std::string_view info;  // "yaml" for "```yaml title=x"; empty without a word
  size_t opening = 0;     // where the block itself begins
  bool closed = true;
};

enum class PageLanguage : uint8_t { kMarkdown, kRst, kAsciiDoc };

std::vector<Block> split_page(std::string_view text, PageLanguage language);

// A line without its end ('\n', "\r\n"); `next` is where the following one begins.
struct PageLine {
  std::string_view text;
  size_t begin = 0;
  size_t next = 0;
};
// The line that begins at `at`, up to `end`.
PageLine line_at(std::string_view text, size_t at, size_t end);

// "yaml" from "yaml", "{.yaml}", "{code-block} yaml", "yaml:file.yaml" or "yaml title=x".
std::string_view language_word(std::string_view info);
// Whether `line` is at least `least` times `mark`, and nothing else.
bool is_row_of_marks(std::string_view line, char mark, size_t least);
// Whether a row of marks underlines the line above it: a heading.
bool is_underline(std::string_view row, std::string_view above);

// What the first word behind a fence says about its content. kUnknown: a word that no list has.
enum class BlockLanguage { kManifest, kShell, kConsole, kUnsaid, kDifference, kOther };
BlockLanguage language_of(std::string_view info);

// Collects the blocks of a page: what lies between blocks of code is text.
class BlockList {
 public:
  explicit BlockList(std::string_view text) : text_(text) {}

  // A block of code that begins at `content`, opened at `opening` (where the text before it ends).
  void open(size_t text_end, Block block);
  // Ends it; the text goes on at `next`.
  void close(size_t end, size_t next);
  bool is_open() const { return open_; }
  // `unclosed`: the language needs an end.
  std::vector<Block> finish();

 private:
  void end_of_text(size_t end);

  std::string_view text_;
  size_t text_begin_ = 0;
  bool open_ = false;
  std::vector<Block> blocks_;
};

}  // namespace railbed::check
