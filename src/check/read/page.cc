// SPDX-License-Identifier: Apache-2.0
#include "check/read/page.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "check/read/asciidoc.h"
#include "check/read/markdown.h"
#include "check/read/rst.h"

namespace railbed::check {
namespace {

constexpr std::string_view kBlanks = " \t";

// The bytes of a line that a reader sees: of UTF-8 only the first byte of each character.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::vector<Block> split_page(std::string_view text, PageLanguage language) {
  switch (language) {
    case PageLanguage::kRst:
      return split_rst(text);
    case PageLanguage::kAsciiDoc:
      return split_asciidoc(text);
    case PageLanguage::kMarkdown:
      break;
  }
  return split_markdown(text);
}

PageLine line_at(std::string_view text, size_t at, size_t end) {
  const size_t stop = std::min(text.substr(0, end).find('\n', at), end);
  std::string_view line = text.substr(at, stop - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return {line, at, std::min(stop + 1, end)};
}

std::string_view language_word(std::string_view info) {
  info = trimmed(info);
  for (const std::string_view directive : {"{code-block}", "{code}", "{sourcecode}", "{code-cell}"})
    if (info.starts_with(directive)) info = trimmed(info.substr(directive.size()));
  while (!info.empty() && (info[0] == '{' || info[0] == '.')) info.remove_prefix(1);
  return info.substr(0, info.find_first_of(" \t,:}{"));
}

bool is_row_of_marks(std::string_view line, char mark, size_t least) {
  line = trimmed(line);
  return line.size() >= least && line.find_first_not_of(mark) == std::string_view::npos;
}

bool is_underline(std::string_view row, std::string_view above) {
  const size_t first = row.find_first_not_of(kBlanks);
  if (first == std::string_view::npos || above.find_first_not_of(kBlanks) != first) return false;
  const std::string_view title = trimmed(above);
  // Headings are text, and their rows are about as long as they are.
  if (title.empty() || std::isalnum(static_cast<unsigned char>(title[0])) == 0) return false;
  const size_t marks = trimmed(row).size();
  const size_t width = width_of(title);
  return marks + 2 >= width && marks <= width + 2;
}

BlockLanguage language_of(std::string_view info) {
  const std::string word = lower(info);
  const auto is_one_of = [&](auto... names) { return ((word == names) || ...); };
  if (is_one_of("yaml", "yml", "json", "jsonc", "json5", "kubernetes", "k8s", "ansible", "yaml+jinja", "yaml+jinja2"))
    return BlockLanguage::kManifest;
  if (is_one_of("sh", "bash", "shell", "zsh", "ksh")) return BlockLanguage::kShell;
  if (is_one_of("console", "shell-session", "shellsession", "sh-session", "terminal", "bash-session"))
    return BlockLanguage::kConsole;
  if (is_one_of("", "text", "txt", "plain", "plaintext", "output", "log", "none", "code"))
    return BlockLanguage::kUnsaid;
  if (is_one_of("diff", "patch", "udiff")) return BlockLanguage::kDifference;
  return BlockLanguage::kOther;
}

void BlockList::end_of_text(size_t end) {
  if (end > text_begin_) blocks_.push_back({.begin = text_begin_, .end = end});
}

void BlockList::open(size_t text_end, Block block) {
  end_of_text(text_end);
  block.fence = true;
  blocks_.push_back(block);
  open_ = true;
}

void BlockList::close(size_t end, size_t next) {
  blocks_.back().end = end;
  open_ = false;
  text_begin_ = next;
}

std::vector<Block> BlockList::finish() {
  if (open_) {
    blocks_.back().end = text_.size();
    blocks_.back().closed = false;
  } else {
    end_of_text(text_.size());
  }
  return std::move(blocks_);
}

}  // namespace railbed::check
