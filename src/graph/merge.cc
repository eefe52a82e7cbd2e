// SPDX-License-Identifier: Apache-2.0
#include "graph/merge.h"

#include <algorithm>

namespace railbed::graph {

Merged merge(const std::vector<Claim>& claims) {
  Merged merged;
  std::vector<const Claim*> kept;
  std::vector<const Claim*> contributors;
  for (const Claim& claim : claims) {
    std::vector<const Claim*> survivors;
    for (const Claim* earlier : kept)
      if (overlap(earlier->group.vfs, claim.group.vfs))
        merged.shadowed.push_back({earlier->group.from, claim.group.from});
      else
        survivors.push_back(earlier);
    const bool equal = !contributors.empty() && contributors.back()->priority == claim.priority;
    if (!equal && survivors.empty()) contributors.clear();
    contributors.push_back(&claim);
    kept = std::move(survivors);
    kept.push_back(&claim);
  }
  for (const Claim* claim : contributors)
    if (!claim->refused) merged.contributors.push_back(&claim->group);
  for (const Claim* claim : kept)
    if (!claim->refused) merged.groups.push_back(claim->group);
  std::ranges::sort(merged.groups, {}, [](const VfGroup& group) { return group.vfs.front().first; });
  return merged;
}

}  // namespace railbed::graph
