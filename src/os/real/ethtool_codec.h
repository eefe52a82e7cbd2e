// SPDX-License-Identifier: Apache-2.0
// The names and values of a driver's statistics, as ETHTOOL_GSTRINGS and ETHTOOL_GSTATS lay them out.
//
// Threading: pure. Failure: none; names that are empty are left out, of two with one name the first counts. Source:
// linux/ethtool.h: a name has 32 bytes and ends with a zero where there is room for one.
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
