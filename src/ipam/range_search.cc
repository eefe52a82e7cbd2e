// SPDX-License-Identifier: Apache-2.0
#include "ipam/range_search.h"

#include <algorithm>

namespace railbed::ipam {
namespace {

// The address itself, or the last address of the excluded prefix it is in.
std::optional<IpAddress> end_of_exclusion(const IpAddress& address, const api::IpamRange& range) {
  std::optional<IpAddress> end;
  for (const IpPrefix& excluded : range.excluded)
    if (excluded.contains(address) && (!end.has_value() || *end < excluded.last())) end = excluded.last();
  return end;
}

bool is_subnets_own(const IpAddress& address, const IpPrefix& subnet) {
  if (subnet.length >= subnet.address.bits() - 1) return false;
  if (address == subnet.network()) return true;
  return address.family == IpFamily::kV4 && address == subnet.last();
}

}  // namespace

std::vector<IpAddress> gateways_of(const api::IpamConfig& config) {
  std::vector<IpAddress> gateways;
  for (const auto& set : config.range_sets)
    for (const api::IpamRange& range : set)
      if (range.gateway.has_value()) gateways.push_back(*range.gateway);
  for (const auto& fixed : config.fixed)
    if (fixed.gateway.has_value()) gateways.push_back(*fixed.gateway);
  for (const api::IpamRoute& route : config.routes)
    if (route.gateway.has_value()) gateways.push_back(*route.gateway);
  return gateways;
}

bool usable(const IpAddress& address, const api::IpamRange& range, const std::vector<IpAddress>& gateways) {
  return range.addresses.contains(address) && !is_subnets_own(address, range.subnet) &&
         !end_of_exclusion(address, range).has_value() && std::ranges::count(gateways, address) == 0;
}

// Each turn passes a taken address, an excluded prefix, a gateway or an end of the subnet, so that a /64 with
// three leases takes a handful of turns.
std::optional<IpAddress> lowest_free(const api::IpamRange& range, const std::vector<IpAddress>& gateways,
                                     const std::map<IpAddress, Owner>& taken) {
  std::optional<IpAddress> candidate = range.addresses.first;
  while (candidate.has_value() && range.addresses.contains(*candidate)) {
    if (auto end = end_of_exclusion(*candidate, range)) {
      candidate = end->plus(1);
      continue;
    }
    if (usable(*candidate, range, gateways) && !taken.contains(*candidate)) return candidate;
    candidate = candidate->plus(1);
  }
  return std::nullopt;
}

}  // namespace railbed::ipam
