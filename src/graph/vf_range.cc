// SPDX-License-Identifier: Apache-2.0
#include "graph/vf_range.h"

#include <algorithm>

#include "base/format.h"

namespace railbed::graph {

std::string VfRange::to_string() const {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::vector<VfRange> join(std::vector<VfRange> ranges) {
  std::ranges::sort(ranges, {}, &VfRange::first);
  std::vector<VfRange> joined;
  for (const VfRange& range : ranges) {
    if (range.count() <= 0) continue;
    if (!joined.empty() && range.first <= joined.back().last + 1)
      joined.back().last = std::max(joined.back().last, range.last);
    else
      joined.push_back(range);
  }
  return joined;
}

bool overlap(const std::vector<VfRange>& a, const std::vector<VfRange>& b) {
  return std::ranges::any_of(a, [&](const VfRange& range) {
    return std::ranges::any_of(b, [&](const VfRange& other) { return range.overlaps(other); });
  });
}

std::string to_string(const std::vector<VfRange>& ranges) {
  return fmt::format("{}", fmt::join(ranges, ", "));
}

}  // namespace railbed::graph
