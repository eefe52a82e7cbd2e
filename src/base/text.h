// SPDX-License-Identifier: Apache-2.0
// What every reader of lines does to a text.
//
// Why: a room that takes blanks off by hand gets the line that has nothing else wrong, and differs in whether '\r' is
// one. Threading: pure functions. Failure: none.
#pragma once

#include <string_view>

namespace railbed {

inline constexpr std::string_view kBlanksAndLineEnds = " \t\r\n";

// Without the characters of `around` at both ends; empty where there is nothing else. A view into `text`.
inline constexpr std::string_view trimmed(std::string_view text, std::string_view around = kBlanksAndLineEnds) {
  const size_t first = text.find_first_not_of(around);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(around) + 1 - first);
}

}  // namespace railbed
