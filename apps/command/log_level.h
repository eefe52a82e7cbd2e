// SPDX-License-Identifier: Apache-2.0
// The values of --log-level. Threading: pure. Failure: none.
#pragma once

#include <array>
#include <string_view>

#include "base/log.h"

namespace railbed {

inline constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};

inline log::Level level_named(std::string_view name) {
  for (size_t i = 0; i < kLogLevels.size(); ++i)
    if (kLogLevels[i] == name) return static_cast<log::Level>(i);
  return log::Level::kInfo;
}

}  // namespace railbed
