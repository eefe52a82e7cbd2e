// SPDX-License-Identifier: Apache-2.0
#include "check/read/placeholders.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "base/text.h"
#include "check/data_files.h"
#include "doc/members.h"

namespace railbed::check {
namespace {

constexpr size_t kMaxPlaceholder = 80;

bool is_alphabetic(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_figure(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

// Without quotes, brackets of a list and the marks of emphasis around it.
std::string_view bare_word(std::string_view text) {
  static constexpr std::string_view kAround = " \t\r\"'`*[],";
  return trimmed(text, kAround);
}

// What may stand between the brackets: a name, words, alternatives; it begins with a letter.
bool is_name_of_value(std::string_view text) {
  if (text.empty() || text.size() > kMaxPlaceholder || (!is_alphabetic(text[0]) && text[0] != '_')) return false;
  return std::ranges::all_of(text, [](char c) {
    return is_alphabetic(c) || is_figure(c) || std::string_view("_-. /|,:()'+").find(c) != std::string_view::npos;
  });
}

// "<num>" or "{num}" anywhere in the text; empty: none.
std::string_view bracketed(std::string_view text) {
  for (const auto& [open, close] : {std::pair('<', '>'), std::pair('{', '}')})
    for (size_t at = text.find(open); at != std::string_view::npos; at = text.find(open, at + 1)) {
      const size_t end = text.find(close, at);
      if (end == std::string_view::npos) break;
      std::string_view inside = text.substr(at + 1, end - at - 1);
      const size_t first = std::min(inside.find_first_not_of(" *_"), inside.size());
      inside.remove_prefix(first);
      inside = inside.substr(0, inside.find_last_not_of(" *_") + 1);
      // In braces only one word: `{a: b}` is a map.
      const bool word = open == '<' || inside.find_first_of(" :,") == std::string_view::npos;
      if (word && is_name_of_value(inside)) return text.substr(at, end + 1 - at);
    }
  return {};
}

// "NUM_VFS", "PHYSICAL_INTERFACE#0-1": upper-case words with '_' between them.
bool is_upper_name(std::string_view text) {
  text = text.substr(0, text.find('#'));
  if (text.find('_') == std::string_view::npos || text.size() < 4 || !is_capital(text[0])) return false;
  return std::ranges::all_of(text, [](char c) { return is_capital(c) || is_figure(c) || c == '_' || c == '-'; });
}

bool is_word_byte(char c) {
  return is_alphabetic(c) || is_figure(c) || c == '_';
}

bool is_lower_byte(char c) {
  return c >= 'a' && c <= 'z';
}

// "JOBSUFFIX": beside lower-case words it is no abbreviation.
bool is_long_capital_word(std::string_view text) {
  constexpr size_t kLongerThanAbbreviations = 5;
  return text.size() >= kLongerThanAbbreviations && std::ranges::all_of(text, is_capital);
}

// "_ignored_", "_replaced_"
bool is_underlined_word(std::string_view text) {
  if (text.size() < 4 || text.front() != '_' || text.back() != '_') return false;
  const std::string_view word = trimmed(text, "_");
  return !word.empty() && is_lower_byte(word.front()) && is_lower_byte(word.back()) &&
         std::ranges::all_of(word, [](char c) { return is_lower_byte(c) || c == '_' || c == '-'; });
}

// Calls `is` with each run of letters, digits and '_', until it returns true.
template <typename Is>
bool any_run(std::string_view text, Is is) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word_byte(text[end])) ++end;
    if (end > at && is(text.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

// The words of placeholders.yaml.
struct PlaceholderWords {
  std::vector<std::string> asked;
  std::vector<std::string> asked_begins;
  std::vector<std::string> replaced;
  std::vector<std::string> replaced_begins;
};

const PlaceholderWords& placeholder_words() {
  static const PlaceholderWords kWords = [] {
    const doc::Value data = data_document("placeholders.yaml");
    return PlaceholderWords{.asked = doc::texts_in(data, "asked"),
                            .asked_begins = doc::texts_in(data, "asked_begins"),
                            .replaced = doc::texts_in(data, "replaced"),
                            .replaced_begins = doc::texts_in(data, "replaced_begins")};
  }();
  return kWords;
}

// "replace-me" of "__REPLACE_ME__".
std::string plain_word(std::string_view text) {
  std::string word;
  for (const char c : text)
    word += c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::string(trimmed(word, "-"));
}

bool is_word_among(std::string_view text, const std::vector<std::string>& words,
                   const std::vector<std::string>& begins) {
  if (text.size() > kMaxPlaceholder) return false;
  const std::string word = plain_word(text);
  return std::ranges::find(words, word) != words.end() || std::ranges::any_of(begins, [&](const std::string& begin) {
           return word.size() > begin.size() && word.starts_with(begin);
         });
}

// Words that ask their reader to do something, or say that a program does it; whole or as the beginning.
bool is_request(std::string_view text) {
  const PlaceholderWords& known = placeholder_words();
  return is_word_among(text, known.asked, known.asked_begins) ||
         is_word_among(text, known.replaced, known.replaced_begins);
}

// "xxx", "xx:xx.x", "x.x.x.x/24": letters x in the place of digits.
bool is_crossed_out(std::string_view text) {
  const auto crosses = std::ranges::count_if(text, [](char c) { return c == 'x' || c == 'X'; });
  return crosses >= 3 && std::ranges::all_of(text, [](char c) {
           return c == 'x' || c == 'X' || is_figure(c) || std::string_view(".:-/").find(c) != std::string_view::npos;
         });
}

bool is_type_word(std::string_view text) {
  static constexpr std::array<std::string_view, 17> kTypes{"int",    "int32",   "int64", "integer", "string",  "str",
                                                           "bool",   "boolean", "float", "list",    "number",  "array",
                                                           "object", "map",     "text",  "uint",    "[]string"};
  static constexpr std::array<std::string_view, 4> kBehind{"optional", "required", "(optional)", "(required)"};
  const size_t end = std::min(text.find_first_of(" ,"), text.size());
  const std::string_view word = text.substr(0, end);
  if (std::ranges::find(kTypes, word) == kTypes.end()) return false;
  std::string_view rest = text.substr(end);
  rest.remove_prefix(std::min(rest.find_first_not_of(" ,"), rest.size()));
  return rest.empty() || std::ranges::find(kBehind, rest) != kBehind.end();
}

// "netdevice | vfio-pci", "eth|ib"
bool is_choice(std::string_view text) {
  const size_t bar = text.find('|');
  if (bar == std::string_view::npos || bar == 0 || bar + 1 == text.size()) return false;
  const bool spaced =
      text.find(" | ") != std::string_view::npos && text.find_first_of("/$;&\"'") == std::string_view::npos;
  return (is_name_of_value(text) || spaced) && text.find("||") == std::string_view::npos;
}

// A number or a flag.
bool is_plain_scalar(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kFlags{"true", "false", "yes", "no", "on", "off"};
  return std::ranges::find(kFlags, text) != kFlags.end() || (!text.empty() && std::ranges::all_of(text, is_figure));
}

// "true/false", "1 or 2", "1 -> 3": values of which the reader takes one.
bool is_one_of_scalars(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kBetween{"/", " or ", " -> ", " => ", " → ", " to "};
  return std::ranges::any_of(kBetween, [&](std::string_view between) {
    const size_t at = text.find(between);
    return at != std::string_view::npos && is_plain_scalar(text.substr(0, at)) &&
           is_plain_scalar(text.substr(at + between.size())) &&
           (between != "/" || !is_figure(text[0]));  // "1/2" may be a path or a fraction
  });
}

// "4 (or 8)", "9000 (optional)": a value, and what a page says of it.
bool is_explained_scalar(std::string_view text) {
  const size_t open = text.find(" (");
  return open != std::string_view::npos && text.ends_with(')') && is_plain_scalar(trimmed(text.substr(0, open))) &&
         text.find_first_of("abcdefghijklmnopqrstuvwxyz", open) != std::string_view::npos;
}

bool is_elided_text(std::string_view text) {
  return text.find("...") != std::string_view::npos || text.find("…") != std::string_view::npos;
}

// The word of a value of one line; empty where it is none.
std::string_view word_of_value(std::string_view written) {
  if (written.find('\n') != std::string_view::npos || written.size() > 4 * kMaxPlaceholder) return {};
  return bare_word(written);
}

}  // namespace

bool is_placeholder(std::string_view written) {
  const std::string_view text = word_of_value(written);
  if (text.empty()) return false;
  return !bracketed(text).empty() || is_upper_name(text) || has_stand_in(text) || is_request(text) ||
         is_crossed_out(text) || is_type_word(text) || is_choice(text) || is_elided_text(text) ||
         is_one_of_scalars(text) || is_explained_scalar(text);
}

bool is_sure_placeholder(std::string_view written) {
  const std::string_view text = word_of_value(written);
  if (text.empty()) return false;
  return !bracketed(text).empty() || is_request(text) || is_crossed_out(text) || text == "..." || text == "…";
}

bool is_replaced_word(std::string_view written) {
  const std::string_view text = word_of_value(written);
  const PlaceholderWords& known = placeholder_words();
  return !text.empty() && is_word_among(text, known.replaced, known.replaced_begins);
}

bool may_be_placeholder(std::string_view written) {
  if (is_placeholder(written)) return true;
  const std::string_view text = bare_word(written);
  if (text.size() == 1) return is_capital(text[0]);
  return text.size() >= 2 && is_capital(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_capital(c) || is_figure(c) || c == '-'; });
}

bool has_stand_in(std::string_view written) {
  const std::string_view text = word_of_value(written);
  if (text.empty() || text.find_first_of(" \t") != std::string_view::npos) return false;
  if (is_underlined_word(text)) return true;
  const size_t braces = text.find("{}");  // of Python's format
  if (braces != std::string_view::npos && text.size() > 2 && text.find_first_of("\":,") == std::string_view::npos)
    return true;
  const bool is_name = std::ranges::all_of(text, [](char c) { return is_word_byte(c) || c == '-' || c == '.'; });
  const bool lower = is_name && std::ranges::any_of(text, is_lower_byte);
  return any_run(text, [&](std::string_view word) {
    return is_upper_name(trimmed(word, "_")) || (lower && is_long_capital_word(word));
  });
}

bool is_line_of_stand_in(std::string_view line) {
  std::string_view content = trimmed(line, " \t\r");
  if (content.starts_with("- ")) content = trimmed(content.substr(2));
  if (is_upper_name(content) || is_underlined_word(content)) return true;
  const size_t quote = content.find_last_of("\"'");
  if (quote != std::string_view::npos) return quote > 0 && is_upper_name(content.substr(quote + 1));
  const size_t colon = content.find(':');
  if (colon == 0 || colon == std::string_view::npos || !is_upper_name(content.substr(colon + 1))) return false;
  // Where a variable is named, the blank was forgotten.
  static constexpr std::array<std::string_view, 3> kOfVariables{"name", "value", "key"};
  const std::string_view key = content.substr(0, colon);
  return std::ranges::all_of(key, is_alphabetic) && std::ranges::find(kOfVariables, key) == kOfVariables.end();
}

std::string placeholder_in(std::string_view written) {
  const std::string_view text = bare_word(written);
  const std::string_view inner = bracketed(text);
  return std::string((inner.empty() ? text : inner).substr(0, kMaxPlaceholder));
}

}  // namespace railbed::check
