// SPDX-License-Identifier: Apache-2.0
#include "os/real/ethtool_codec.h"

#include <algorithm>

#include <linux/ethtool.h>

namespace railbed::os {

std::map<std::string, uint64_t> named_statistics(std::string_view names, std::span<const uint64_t> values) {
  std::map<std::string, uint64_t> statistics;
  const size_t count = std::min(names.size() / ETH_GSTRING_LEN, values.size());
  for (size_t i = 0; i < count; ++i) {
    const std::string_view field = names.substr(i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
    const std::string_view name = field.substr(0, field.find('\0'));
    if (!name.empty()) statistics.emplace(name, values[i]);
  }
  return statistics;
}

}  // namespace railbed::os
