// SPDX-License-Identifier: Apache-2.0
// Single values as text: how YAML reads a plain word, and how both formats write one.
//
// The rules are those of the YAML reader that Kubernetes uses (YAML 1.1 words, with 1.2's 0o octal): what kubectl
// parses as a number or a boolean, railbed does too.
// Threading: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doc/value.h"

namespace railbed::doc {

// The value of a plain (unquoted) scalar. Infinite and undefined numbers (.inf, .nan) become a double.
Value resolve_plain(std::string_view text);
std::optional<int64_t> plain_integer(std::string_view text);

std::string json_quoted(std::string_view text);
// The shortest text that parses to the same double and can only be a double; "null" if not finite.
std::string double_text(double number);
// A null, boolean, integer or double, which have the same text in JSON and YAML; empty for other kinds.
std::string number_or_word(const Value& value);

}  // namespace railbed::doc
