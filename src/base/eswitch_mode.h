// SPDX-License-Identifier: Apache-2.0
// The mode of a NIC's embedded switch: what a policy requests, what devlink reports and what a step sets.
//
// Why here: the same two words go from a policy through graph, plan and state to the kernel. Each of these libraries
// uses this one type, and text exists only in documents and in the database.
// Threading: pure functions.
// Failure: nothing for a name that is neither.
// Source: linux/devlink.h, DEVLINK_ESWITCH_MODE_*.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace railbed {

enum class EswitchMode : uint8_t { kLegacy, kSwitchdev };

constexpr std::string_view eswitch_mode_name(EswitchMode mode) {
  return mode == EswitchMode::kSwitchdev ? "switchdev" : "legacy";
}

// Empty for no mode: a NIC without an embedded switch.
constexpr std::string_view eswitch_mode_name(std::optional<EswitchMode> mode) {
  return mode ? eswitch_mode_name(*mode) : "";
}

constexpr std::optional<EswitchMode> parse_eswitch_mode(std::string_view name) {
  for (EswitchMode mode : {EswitchMode::kLegacy, EswitchMode::kSwitchdev})
    if (name == eswitch_mode_name(mode)) return mode;
  return std::nullopt;
}

}  // namespace railbed
