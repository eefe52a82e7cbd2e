// SPDX-License-Identifier: Apache-2.0
#include "check/read/prompts.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "check/read/shell.h"
#include "check/read/tools.h"

namespace railbed::check {
namespace {

constexpr size_t kLongestPrompt = 100;
constexpr int kMostPromptWords = 5;

// Signs that end prompts: punctuation, arrows, shapes, dingbats, pictures, and what fonts of terminals add.
struct SignRange {
  uint32_t first = 0;
  uint32_t last = 0;
};
constexpr SignRange kSigns[] = {{0xA1, 0xBF},     {0x3BB, 0x3BB},   {0x1400, 0x167F}, {0x2010, 0x2BFF},
                                {0x3001, 0x303F}, {0xE000, 0xF8FF}, {0xFE00, 0xFE0F}, {0x1F000, 0x1FAFF}};

// The last character of a text that is not empty.
uint32_t last_character(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80 && text.size() - begin < 4) --begin;
  const auto first = static_cast<unsigned char>(text[begin]);
  const size_t length = text.size() - begin;
  uint32_t character = length == 1 ? first : length == 2 ? first & 0x1FU : length == 3 ? first & 0x0FU : first & 0x07U;
  for (size_t i = begin + 1; i < text.size(); ++i)
    character = (character << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return character;
}

bool ends_with_sign(std::string_view word) {
  if (static_cast<unsigned char>(word.back()) < 0x80) return false;
  const uint32_t last = last_character(word);
  return std::ranges::any_of(kSigns, [&](const SignRange& range) { return last >= range.first && last <= range.last; });
}

// "<node>" is a placeholder.
bool ends_with_mark(std::string_view word) {
  return std::string_view("$%#>").find(word.back()) != std::string_view::npos && !word.starts_with('<');
}

// A folder, a user, a branch, or a sign: what a prompt has before its end, and a sentence has not.
bool is_of_prompt(std::string_view word) {
  return word.find_first_of("~@/\\[(:") != std::string_view::npos || ends_with_sign(word);
}

// What is before a lone '#': of a user or in a folder of his. Elsewhere it begins a comment.
bool has_user(std::string_view before) {
  return before.find_first_of("@~") != std::string_view::npos;
}

bool is_home_folder(std::string_view word) {
  return word == "~" || word.starts_with("~/");
}

// What is in keys, values, quotations and commands.
bool is_never_in_prompt(std::string_view word) {
  static constexpr std::string_view kOperators[] = {"|", "||", "&&", ";", "&", "-", "<", ">>", "<<"};
  return word.ends_with(':') || word.find_first_of("\"'`=") != std::string_view::npos ||
         std::ranges::find(kOperators, word) != std::end(kOperators);
}

// The upper line of a prompt of two lines: "┌──(ann㉿n1)-[~]".
bool is_upper_line(std::string_view line) {
  return (line.starts_with("┌─") || line.starts_with("╭─")) && line.find_first_of("([@~") != std::string_view::npos;
}

}  // namespace

size_t drawn_prompt_length(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
  if (is_upper_line(line)) return line.size();
  bool home = false;       // it begins with a folder
  bool of_prompt = false;  // a word is of a prompt
  bool ends = false;       // the words so far end with a sign
  size_t at = 0;
  for (int words = 0; words <= kMostPromptWords && at < std::min(line.size(), kLongestPrompt); ++words) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (words > 0 && ends && looks_like_command(line.substr(at))) return at;
    if (words == 0 && (is_program(word) || is_shell_word(word) || word[0] == '#')) return 0;
    if (is_never_in_prompt(word)) return 0;
    home |= words == 0 && is_home_folder(word);
    const bool alone = word == "#" ? has_user(line.substr(0, at)) : of_prompt;
    const bool mark = ends_with_mark(word) && (word.size() > 1 || alone);
    of_prompt |= is_of_prompt(word);
    ends = home || mark || ends_with_sign(word);
    if (end == line.size()) return home && words > 0 && ends_with_sign(word) ? line.size() : 0;
    at = std::min(line.find_first_not_of(" \t", end), line.size());
  }
  return 0;
}

namespace {

// "[root@jump ~]#", "user@node:~$", "$": no command follows.
bool is_prompt_alone(std::string_view content) {
  if (content.empty() || content.size() > kLongestPrompt) return false;
  if (content == "$") return true;
  if (std::string_view("$#%>").find(content.back()) == std::string_view::npos) return false;
  if (content.find(": ") != std::string_view::npos || content.find_first_of("\"'`=") != std::string_view::npos)
    return false;
  const size_t at = content.find('@');
  return at != std::string_view::npos && at > 0 && content[0] != '#' && content[0] != '-' && content[0] != '<';
}

}  // namespace

size_t last_prompt_length(std::string_view block) {
  size_t kept = block.size();
  for (size_t end = block.size(); end > 0;) {
    const size_t before = end == 1 ? std::string_view::npos : block.rfind('\n', end - 2);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view content = trimmed(block.substr(begin, end - begin));
    if (!content.empty() && !is_prompt_alone(content)) break;
    if (!content.empty()) kept = begin;
    end = begin;
  }
  return block.size() - kept;
}

}  // namespace railbed::check
