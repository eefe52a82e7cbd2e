// SPDX-License-Identifier: Apache-2.0
#include "check/read/sections.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/text.h"
#include "check/read/page.h"
#include "check/read/paths.h"
#include "check/read/tools.h"

namespace railbed::check {
namespace {

PageLanguage language_of_page(std::string_view name) {
  if (name.ends_with(".rst")) return PageLanguage::kRst;
  const bool asciidoc = name.ends_with(".adoc") || name.ends_with(".asciidoc");
  return asciidoc ? PageLanguage::kAsciiDoc : PageLanguage::kMarkdown;
}

// "## Title", "== Title"
bool is_marked_heading(std::string_view line, char mark) {
  constexpr size_t kDeepest = 6;
  const size_t marks = std::min(line.find_first_not_of(mark), line.size());
  return marks > 0 && marks <= kDeepest && marks < line.size() && (line[marks] == ' ' || line[marks] == '\t');
}

// "# ibping -S": a command behind the prompt of root.
bool is_command_of_root(std::string_view row) {
  if (!row.starts_with("# ")) return false;
  const std::string_view words = trimmed(row.substr(1));
  const size_t blank = std::min(words.find(' '), words.size());
  const std::string_view rest = trimmed(words.substr(blank));
  const std::string_view program = words.substr(0, blank);
  return is_program(program) && (rest.empty() || may_follow(program, rest.substr(0, rest.find(' '))));
}

bool is_heading(std::string_view line, std::string_view above, PageLanguage language) {
  const std::string_view row = trimmed(line);
  if (row.empty() || is_command_of_root(row)) return false;
  const auto underlined = [&](char mark) { return is_row_of_marks(row, mark, 2) && is_underline(line, above); };
  switch (language) {
    case PageLanguage::kMarkdown:
      return is_marked_heading(row, '#') || underlined('=') || underlined('-');
    case PageLanguage::kAsciiDoc:
      return is_marked_heading(row, '=') || is_marked_heading(row, '#') || underlined('-') || underlined('~');
    case PageLanguage::kRst:
      return std::ispunct(static_cast<unsigned char>(row[0])) != 0 && underlined(row[0]);
  }
  return false;
}

// Whether a text begins with a word for another way of doing the same.
bool names_another_way(std::string_view text) {
  static constexpr std::string_view kWords[] = {"or", "alternatively", "alternative", "otherwise", "instead"};
  std::string word;
  for (const char c : text.substr(0, 16)) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::ranges::find(kWords, word) != std::end(kWords);
}

// The text of a comment of a shell; empty where the line is none.
std::string_view comment_text(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.starts_with('#') ? trimmed(text.substr(std::min(text.find_first_not_of('#'), text.size())))
                               : std::string_view();
}

void add_begins_of_code(std::string_view text, size_t begin, size_t end, std::vector<size_t>& out) {
  for (size_t at = begin; at < end;) {
    const PageLine line = line_at(text, at, end);
    at = line.next;
    if (names_another_way(comment_text(line.text))) out.push_back(line.begin);
  }
}

void add_begins_of_prose(std::string_view text, const Block& block, PageLanguage language, std::vector<size_t>& out) {
  std::string_view above;
  for (size_t at = block.begin; at < block.end;) {
    const PageLine line = line_at(text, at, block.end);
    at = line.next;
    const bool begins_paragraph = trimmed(above).empty();
    if (is_heading(line.text, above, language) || (begins_paragraph && names_another_way(trimmed(line.text))))
      out.push_back(line.begin);
    above = line.text;
  }
}

}  // namespace

std::vector<size_t> section_begins(std::string_view name, std::string_view text) {
  std::vector<size_t> out;
  if (!is_page(name) && text.find("```") == std::string_view::npos) {
    add_begins_of_code(text, 0, text.size(), out);
    return out;
  }
  const PageLanguage language = language_of_page(name);
  for (const Block& block : split_page(text, language)) {
    if (block.fence)
      add_begins_of_code(text, block.begin, block.end, out);
    else
      add_begins_of_prose(text, block, language, out);
  }
  return out;
}

bool Sections::same(const doc::Span& one, const doc::Span& other) {
  if (one.source != other.source) return false;
  if (one.source == nullptr) return true;
  const size_t first = std::min(one.offset, other.offset);
  const size_t last = std::max(one.offset, other.offset);
  const std::vector<size_t>& all = begins(one.source);
  const auto next = std::ranges::upper_bound(all, first);
  return next == all.end() || *next >= last;
}

const std::vector<size_t>& Sections::begins(const doc::SourcePtr& source) {
  const auto [found, fresh] = begins_.try_emplace(source.get());
  if (fresh) found->second = section_begins(source->name, source->text);
  return found->second;
}

}  // namespace railbed::check
