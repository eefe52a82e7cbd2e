// SPDX-License-Identifier: Apache-2.0
// Terminal colours for texts that people read: callers name the meaning of a word, not its colour.
//
// Threading: pure.
// Failure: none.
// Spec: ECMA-48 8.3.117 (select graphic rendition).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace railbed {

enum class Paint : uint8_t { kNone, kGood, kWarning, kBad, kDim, kStrong };
enum class Colour : bool { kNo, kYes };

// `text` with the escape sequence of `paint`, or unchanged.
std::string painted(std::string_view text, Paint paint, Colour colour);

}  // namespace railbed
