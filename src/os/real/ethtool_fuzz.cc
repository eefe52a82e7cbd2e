// SPDX-License-Identifier: Apache-2.0
// Any names and numbers as a driver's statistics: no more of them than came, with names of at most 32 bytes and no
// zero.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "os/real/ethtool_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The first byte is how many values there are; their bytes come first.
  const size_t count = std::min<size_t>(data[0], (size - 1) / sizeof(uint64_t));
  std::vector<uint64_t> values(count);
  if (count > 0) std::memcpy(values.data(), data + 1, count * sizeof(uint64_t));
  const size_t used = 1 + count * sizeof(uint64_t);
  const std::string_view names(reinterpret_cast<const char*>(data) + used, size - used);
  const auto statistics = railbed::os::named_statistics(names, values);
  if (statistics.size() > count) std::abort();
  for (const auto& [name, value] : statistics)
    if (name.empty() || name.size() > 32 || name.find('\0') != std::string::npos) std::abort();
  return 0;
}
