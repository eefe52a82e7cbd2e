// SPDX-License-Identifier: Apache-2.0
// Durations as users type them: "90s", "30m", "24h", "2d".
//
// Why: options for hours and days are misread as plain numbers. The format is one number and one unit, since "1h30m"
// can be written as "90m".
// Threading: pure.
// Failure: Invalid with the text.
#pragma once

#include <chrono>
#include <string_view>

#include "base/error.h"

namespace railbed {

// At most 10 years, which leaves room for arithmetic in any unit.
Result<std::chrono::seconds> parse_duration(std::string_view text);

}  // namespace railbed
