// SPDX-License-Identifier: Apache-2.0
// Joins texts into one.
//
// Why: lists of names are used in cells and in sentences.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace railbed::report {

inline std::string joined(const std::vector<std::string>& texts, std::string_view between = ", ") {
  return fmt::format("{}", fmt::join(texts, between));
}

}  // namespace railbed::report
