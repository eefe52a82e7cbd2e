// SPDX-License-Identifier: Apache-2.0
// The names and values of a driver's statistics, in the layout of ETHTOOL_GSTRINGS and ETHTOOL_GSTATS.
//
// Threading: pure.
// Failure: none; empty names are skipped, and of two with one name the first is used.
// Source: linux/ethtool.h: a name has 32 bytes and ends with a zero if there is room for one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace railbed::os {

// As many as both have.
std::map<std::string, uint64_t> named_statistics(std::string_view names, std::span<const uint64_t> values);

}  // namespace railbed::os
