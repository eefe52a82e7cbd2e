// SPDX-License-Identifier: Apache-2.0
#include "check/read/rst.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"

namespace railbed::check {
namespace {

size_t margin(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

bool is_blank_line(std::string_view line) {
  return margin(line) == line.size();
}

// A line that opens a block, and the language that it names.
struct Directive {
  size_t indent = 0;
  std::string_view info;
  bool options = false;  // lines with options may follow directly
};

std::optional<Directive> directive_in(std::string_view line) {
  static constexpr std::string_view kNames[] = {"code-block", "code", "sourcecode", "parsed-literal", "prompt"};
  const size_t indent = margin(line);
  std::string_view rest = line.substr(indent);
  if (!rest.starts_with(".. ")) return std::nullopt;
  rest = trimmed(rest.substr(3));
  const size_t colons = rest.find("::");
  if (colons == std::string_view::npos) return std::nullopt;
  const std::string_view name = rest.substr(0, colons);
  if (std::ranges::find(kNames, name) == std::end(kNames)) return std::nullopt;
  return Directive{indent, name == "parsed-literal" ? std::string_view() : language_word(rest.substr(colons + 2)),
                   true};
}

// "The policy::", or "::" alone: the block below it is literal.
std::optional<Directive> literal_in(std::string_view line) {
  const std::string_view content = trimmed(line);
  if (!content.ends_with("::") || content.starts_with(".. ")) return std::nullopt;
  return Directive{.indent = margin(line), .info = {}};
}

bool is_directive_option(std::string_view line) {
  const std::string_view content = trimmed(line);
  return content.size() > 2 && content[0] == ':' && std::isalpha(static_cast<unsigned char>(content[1])) != 0 &&
         content.find(':', 1) != std::string_view::npos;
}

class RstSplitter {
 public:
  explicit RstSplitter(std::string_view text) : text_(text), blocks_(text) {}

  std::vector<Block> split() {
    for (size_t at = 0; at < text_.size();) {
      const PageLine line = line_at(text_, at, text_.size());
      auto opened = directive_in(line.text);
      if (!opened) opened = literal_in(line.text);
      at = opened ? block_below(line, *opened) : line.next;
    }
    return blocks_.finish();
  }

 private:
  // The lines below a directive that are indented deeper than it; returns where the text goes on.
  size_t block_below(const PageLine& opening, const Directive& directive) {
    size_t at = opening.next;
    while (directive.options && at < text_.size()) {
      const PageLine line = line_at(text_, at, text_.size());
      if (is_blank_line(line.text) || margin(line.text) <= directive.indent || !is_directive_option(line.text)) break;
      at = line.next;
    }
    const size_t begin = at;
    size_t end = begin;
    size_t indent = std::string_view::npos;
    while (at < text_.size()) {
      const PageLine line = line_at(text_, at, text_.size());
      at = line.next;
      if (is_blank_line(line.text)) continue;
      if (margin(line.text) <= directive.indent) break;
      indent = std::min(indent, margin(line.text));
      end = line.next;
    }
    if (end == begin) return opening.next;
    blocks_.open(opening.begin, {.begin = begin,
                                 .end = begin,
                                 .indent = indent,
                                 .info = directive.info,
                                 .opening = opening.begin + directive.indent});
    blocks_.close(end, end);
    return end;
  }

  std::string_view text_;
  BlockList blocks_;
};

}  // namespace

std::vector<Block> split_rst(std::string_view text) {
  return RstSplitter(text).split();
}

}  // namespace railbed::check
