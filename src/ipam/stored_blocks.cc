// SPDX-License-Identifier: Apache-2.0
#include "ipam/stored_blocks.h"

#include <algorithm>

namespace railbed::ipam {

Result<std::vector<IpRange>> StoredBlocks::blocks(const std::string& pool, const api::IpamRange& range) {
  if (pool.starts_with("host-local:")) return std::vector<IpRange>{range.addresses};
  std::vector<IpRange> inside;
  for (const IpRange& block : TRY(store_.blocks(pool))) {
    if (block.first.family != range.addresses.first.family) continue;
    IpRange part{std::max(block.first, range.addresses.first), std::min(block.last, range.addresses.last)};
    if (!(part.last < part.first)) inside.push_back(part);
  }
  if (inside.empty() && without_ == WithoutBlocks::kWholeRange) inside.push_back(range.addresses);
  return inside;
}

}  // namespace railbed::ipam
