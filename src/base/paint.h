// SPDX-License-Identifier: Apache-2.0
// Colours of a terminal, for texts that people read: what a word means, not which colour it has.
//
// Threading: pure. Failure: none. Spec: ECMA-48 8.3.117 (select graphic rendition).
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
