// SPDX-License-Identifier: Apache-2.0
// A text that is nothing but a whole number.
//
// Why: reading one takes two comparisons behind std::from_chars, and a reader that forgets the second takes "12abc" as
// 12. Threading: pure. Failure: nothing for an empty text, for another character anywhere (blanks, '+') and for a
// number that the type does not hold.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace railbed {

// '-' in front only where the type is signed; digits up to 'f' or 'F' with base 16, without "0x".
template <std::integral T>
std::optional<T> whole_number(std::string_view text, int base = 10) {
  T number{};
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number, base) != std::from_chars_result{end, std::errc()}) return std::nullopt;
  return number;
}

}  // namespace railbed
