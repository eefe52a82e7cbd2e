// SPDX-License-Identifier: Apache-2.0
// What readers and writers of texts do in every room.
//
// Why: a room that takes blanks off by hand gets the line that has nothing else wrong, and differs in whether '\r' is
// one; readers of lists differ in whether "a,,b" has an empty part. Threading: pure functions. Failure: none.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace railbed {

inline constexpr std::string_view kBlanksAndLineEnds = " \t\r\n";

// Without the characters of `around` at both ends; empty where there is nothing else. A view into `text`.
inline constexpr std::string_view trimmed(std::string_view text, std::string_view around = kBlanksAndLineEnds) {
  const size_t first = text.find_first_not_of(around);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(around) + 1 - first);
}

// Letters of ASCII in lower case; other bytes stay.
inline constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

// The parts between separators without the characters of `around` at their ends; empty parts are left out.
inline std::vector<std::string> parts_of(std::string_view text, char separator,
                                         std::string_view around = kBlanksAndLineEnds) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    const std::string_view part = trimmed(text.substr(begin, end - begin), around);
    if (!part.empty()) parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

// "a", "a and b", "a, b and c".
inline std::string listed(const std::vector<std::string>& names, std::string_view last) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && i + 1 == names.size()) out.append(" ").append(last).append(" ");
    if (i > 0 && i + 1 < names.size()) out.append(", ");
    out.append(names[i]);
  }
  return out;
}

// "1 step", "2 steps"; `many` where the plural has more than an "s": "2 entries".
inline std::string counted(size_t count, std::string_view one, std::string_view many = "") {
  std::string text = std::to_string(count) + " ";
  if (count != 1 && !many.empty()) return text.append(many);
  return text.append(one).append(count == 1 ? "" : "s");
}

}  // namespace railbed
