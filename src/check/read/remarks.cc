// SPDX-License-Identifier: Apache-2.0
#include "check/read/remarks.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace railbed::check {
namespace {

bool is_ascii_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// "<-", "<====", "<<<", "-->", "==>" at the beginning of a text; its length, 0 where there is none. `far`: two blanks
// are before it, without which an arrow to the right is a part of a text.
size_t ascii_arrow(std::string_view rest, bool far) {
  if (rest.starts_with('<')) {
    const size_t end = std::min(rest.find_first_not_of("<-="), rest.size());
    const bool shaft = rest.substr(1, end - 1).find_first_of("-=") != std::string_view::npos || end >= 3;
    return end >= 2 && shaft ? end : 0;
  }
  if (!far || (!rest.starts_with("--") && !rest.starts_with("=="))) return 0;
  const size_t end = std::min(rest.find_first_not_of("-="), rest.size());
  return end < rest.size() && rest[end] == '>' ? end + 1 : 0;
}

size_t drawn_arrow(std::string_view rest) {
  static constexpr std::string_view kArrows[] = {"←", "⟵", "⇐", "⟸", "⬅", "◀", "◄", "👈", "🡐", "↩"};
  for (const std::string_view arrow : kArrows)
    if (rest.starts_with(arrow)) return arrow.size();
  return 0;
}

// An arrow, and behind it words or nothing: "a <= 3" is a condition.
bool is_arrow_with_words(std::string_view rest, bool far) {
  if (drawn_arrow(rest) > 0) return true;
  const size_t length = ascii_arrow(rest, far);
  if (length == 0) return false;
  if (length == rest.size()) return true;
  const std::string_view words = trimmed(rest.substr(length));
  return rest[length] == ' ' && !words.empty() &&
         (is_ascii_letter(words[0]) || static_cast<unsigned char>(words[0]) >= 0x80 ||
          std::string_view("(\"'*`").find(words[0]) != std::string_view::npos);
}

// "①", "❶", "➀" (U+2460 to 2473, U+2776 to 2793) at the end of a line, also several.
bool is_circled_number(std::string_view rest) {
  while (rest.size() >= 3 && rest[0] == '\xE2') {
    const auto second = static_cast<unsigned char>(rest[1]);
    const auto third = static_cast<unsigned char>(rest[2]);
    const bool circled = (second == 0x91 && third >= 0xA0 && third <= 0xB3) || (second == 0x9D && third >= 0xB6) ||
                         (second == 0x9E && third <= 0x93);
    if (!circled) return false;
    rest = trimmed(rest.substr(3));
    if (rest.empty()) return true;
  }
  return false;
}

// "(1)"
bool is_number_in_parentheses(std::string_view rest) {
  return rest.size() > 2 && rest.size() < 5 && rest.starts_with('(') && rest.ends_with(')') &&
         std::ranges::all_of(rest.substr(1, rest.size() - 2), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_remark(std::string_view rest, bool far) {
  return is_arrow_with_words(rest, far) || rest.starts_with("// ") || is_circled_number(rest) ||
         (far && is_number_in_parentheses(rest));
}

// Whether a text ends within quotes.
bool is_quoted_at_end(std::string_view text) {
  return std::ranges::count(text, '"') % 2 != 0 || std::ranges::count(text, '\'') % 2 != 0;
}

}  // namespace

size_t remark_begin(std::string_view line) {
  const size_t end = line.find_last_not_of(" \t\r") + 1;  // npos + 1 is 0
  const std::string_view text = line.substr(0, end);
  const std::string_view content = trimmed(text);
  if (content.empty() || std::string_view("#\"'{[").find(content[0]) != std::string_view::npos) return line.size();
  const bool item = content.starts_with("- ");
  const size_t colon = text.find(": ");
  if (!item && colon == std::string_view::npos) return line.size();
  const size_t first = item ? static_cast<size_t>(content.data() - text.data()) + 2 : colon + 1;
  for (size_t blank = text.find(' ', first); blank != std::string_view::npos; blank = text.find(' ', blank + 1)) {
    const std::string_view rest = text.substr(blank + 1);
    if (rest.starts_with(' ')) continue;
    if (rest.starts_with('#')) return line.size();  // a comment
    const bool far = blank > 0 && text[blank - 1] == ' ';
    if (is_remark(rest, far) && !is_quoted_at_end(text.substr(0, blank))) return blank;
  }
  return line.size();
}

bool is_remark_line(std::string_view content) {
  static constexpr std::string_view kUp[] = {"^", "↑", "⬆", "⇑", "👆", "↳"};
  static constexpr std::string_view kBetween[] = {"+", "|", "↓", "⬇", "⇓", "⇩"};
  return std::ranges::any_of(kUp, [&](std::string_view sign) { return content.starts_with(sign); }) ||
         std::ranges::find(kBetween, content) != std::end(kBetween);
}

}  // namespace railbed::check
