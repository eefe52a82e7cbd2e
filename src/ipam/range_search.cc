// SPDX-License-Identifier: Apache-2.0
#include "ipam/range_search.h"

#include <algorithm>

namespace railbed::ipam {

using api::end_of_exclusion;
using api::is_subnets_own;

namespace {

// The previous address. Must not be called with the first address of the family's space.
IpAddress before(IpAddress address) {
  for (int i = address.byte_count(); i-- > 0;)
    if (address.bytes[i]-- != 0) break;
  return address;
}

}  // namespace

std::vector<IpRange> merged(std::vector<IpRange> ranges) {
  std::ranges::sort(ranges);
  std::vector<IpRange> all;
  for (const IpRange& range : ranges) {
    bool joins = false;
    if (!all.empty() && all.back().last.family == range.first.family) {
      std::optional<IpAddress> next = all.back().last.plus(1);
      joins = !next.has_value() || !(*next < range.first);
    }
    if (joins)
      all.back().last = std::max(all.back().last, range.last);
    else
      all.push_back(range);
  }
  return all;
}

std::vector<IpRange> usable_parts(const api::IpamRange& range, const std::vector<IpAddress>& gateways,
                                  const std::vector<IpRange>& pieces) {
  const IpPrefix& subnet = range.subnet;
  std::vector<IpRange> blocked;
  for (const IpPrefix& excluded : range.excluded) blocked.push_back({excluded.network(), excluded.last()});
  for (const IpAddress& gateway : gateways) blocked.push_back({gateway, gateway});
  for (const IpAddress& own : {subnet.network(), subnet.last()})
    if (is_subnets_own(own, subnet)) blocked.push_back({own, own});
  std::erase_if(blocked, [&](const IpRange& one) { return one.first.family != subnet.address.family; });
  blocked = merged(std::move(blocked));

  std::vector<IpRange> parts;
  for (const IpRange& piece : pieces) {
    if (piece.first.family != range.addresses.first.family) continue;
    IpAddress last = std::min(piece.last, range.addresses.last);
    std::optional<IpAddress> from = std::max(piece.first, range.addresses.first);
    for (const IpRange& out : blocked) {
      if (!from.has_value() || last < *from || last < out.first) break;
      if (out.last < *from) continue;
      if (*from < out.first) parts.push_back({*from, before(out.first)});
      from = out.last.plus(1);
    }
    if (from.has_value() && !(last < *from)) parts.push_back({*from, last});
  }
  return merged(std::move(parts));
}

const Owner* TakenMap::holder(const IpAddress& address) const {
  auto found = taken_.find(address);
  return found == taken_.end() ? nullptr : &found->second;
}

std::vector<IpAddress> TakenMap::held_by(const Owner& owner) const {
  std::vector<IpAddress> held;
  for (const auto& [address, holder] : taken_)
    if (holder == owner) held.push_back(address);
  return held;
}

std::optional<IpAddress> TakenMap::first_free(const IpAddress& from) const {
  std::optional<IpAddress> candidate = from;
  for (auto at = taken_.find(from); candidate.has_value() && at != taken_.end() && at->first == *candidate; ++at)
    candidate = candidate->plus(1);
  return candidate;
}

TakenView::Held TakenMap::held_in(const std::vector<IpRange>& ranges, size_t most) const {
  Held held;
  for (const IpRange& range : ranges)
    for (auto at = taken_.lower_bound(range.first); at != taken_.end() && range.contains(at->first); ++at) {
      ++held.count;
      if (held.first.size() < most) held.first.emplace_back(*at);
    }
  return held;
}

// Each iteration skips a run of taken addresses, an excluded prefix, a gateway or an end of the subnet. No two runs
// follow each other, so the number of taken addresses does not matter.
std::optional<IpAddress> lowest_free(const api::IpamRange& range, const IpRange& piece,
                                     const std::vector<IpAddress>& gateways, const TakenView& taken,
                                     const std::vector<IpAddress>& besides) {
  if (piece.first.family != range.addresses.first.family) return std::nullopt;
  std::optional<IpAddress> candidate = std::max(piece.first, range.addresses.first);
  while (candidate.has_value() && range.addresses.contains(*candidate) && piece.contains(*candidate)) {
    if (auto end = end_of_exclusion(*candidate, range)) {
      candidate = end->plus(1);
      continue;
    }
    std::optional<IpAddress> free = taken.first_free(*candidate);
    if (free != candidate) {
      candidate = free;
      continue;
    }
    if (usable(*candidate, range, gateways) && std::ranges::count(besides, *candidate) == 0) return candidate;
    candidate = candidate->plus(1);
  }
  return std::nullopt;
}

}  // namespace railbed::ipam
