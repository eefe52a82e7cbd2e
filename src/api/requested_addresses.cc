// SPDX-License-Identifier: Apache-2.0
#include "api/requested_addresses.h"

#include <algorithm>

namespace railbed::api {

std::optional<IpAddress> end_of_exclusion(const IpAddress& address, const IpamRange& range) {
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

std::vector<IpAddress> gateways_of(const IpamConfig& config) {
  std::vector<IpAddress> gateways;
  for (const auto& set : config.range_sets)
    for (const IpamRange& range : set)
      if (range.gateway.has_value()) gateways.push_back(*range.gateway);
  for (const auto& fixed : config.fixed)
    if (fixed.gateway.has_value()) gateways.push_back(*fixed.gateway);
  for (const Route& route : config.routes)
    if (route.gateway.has_value()) gateways.push_back(*route.gateway);
  return gateways;
}

bool usable(const IpAddress& address, const IpamRange& range, const std::vector<IpAddress>& gateways) {
  return range.addresses.contains(address) && !is_subnets_own(address, range.subnet) &&
         !end_of_exclusion(address, range).has_value() && std::ranges::count(gateways, address) == 0;
}

std::string describe_ranges(const std::vector<IpamRange>& set) {
  std::string text;
  for (const IpamRange& range : set)
    text += fmt::format("{}{} of {}{}", text.empty() ? "" : ", ", range.addresses,
                        IpPrefix{range.subnet.network(), range.subnet.length},
                        range.excluded.empty() ? "" : " with exclusions");
  return text;
}

std::string describe_ranges(const std::vector<std::vector<IpamRange>>& sets) {
  std::string text;
  for (const auto& set : sets) text += (text.empty() ? "" : "; ") + describe_ranges(set);
  return text;
}

Result<RequestedAddress> parse_requested(const std::string& text) {
  if (text.find('/') == std::string::npos)
    return RequestedAddress{.address = TRY(IpAddress::parse(text)), .text = text};
  IpPrefix prefix = TRY(IpPrefix::parse(text));
  return RequestedAddress{prefix.address, prefix.length, text};
}

Result<RequestedPlace> place_requested(const IpamConfig& config, const std::string& network,
                                       const RequestedAddress& requested, const std::vector<bool>& chosen) {
  const std::vector<IpAddress> gateways = gateways_of(config);
  for (size_t set = 0; set < config.range_sets.size(); ++set)
    for (const IpamRange& range : config.range_sets[set]) {
      if (chosen[set] || !usable(requested.address, range, gateways)) continue;
      if (requested.length.has_value() && *requested.length != range.subnet.length)
        return fail(Code::kInvalid, "network {}: the requested address {} has another prefix length than {}", network,
                    requested.text, range.subnet);
      return RequestedPlace{set, &range};
    }
  return fail(
      Error{.code = Code::kInvalid,
            .message = fmt::format("network {}: the requested address {} cannot be given from {}", network,
                                   requested.text, describe_ranges(config.range_sets)),
            .hint = "request an address in the range that is neither a gateway nor excluded, one per range set"});
}

namespace {

Result<void> can_give_fixed(const IpamConfig& config, const std::string& network,
                            const std::vector<RequestedAddress>& requested) {
  for (const RequestedAddress& one : requested)
    if (!one.length.has_value())
      return fail(Code::kInvalid, "network {}: the requested address {} needs a prefix length ({}/24)", network,
                  one.text, one.text);
  if (requested.empty() && config.fixed.empty())
    return fail(Code::kInvalid, "network {}: ipam type static has no addresses, and the pod asks for none", network);
  return {};
}

}  // namespace

Result<void> can_give(const IpamConfig& config, const std::string& network, const std::vector<std::string>& requested) {
  std::vector<RequestedAddress> wanted;
  for (const std::string& text : requested)
    wanted.push_back(TRY(parse_requested(text).context("network {}: a requested address", network)));
  switch (config.type) {
    case IpamType::kDhcp:
      return {};
    case IpamType::kNone:
      if (wanted.empty()) return {};
      return fail(
          Error{.code = Code::kInvalid,
                .message = fmt::format("network {} has no ipam block, so that the requested address {} cannot be "
                                       "given",
                                       network, wanted.front().text),
                .hint = "give the network an ipam block of type static"});
    case IpamType::kStatic:
      return can_give_fixed(config, network, wanted);
    case IpamType::kHostLocal:
    case IpamType::kWhereabouts:
      break;
  }
  std::vector<bool> chosen(config.range_sets.size());
  for (const RequestedAddress& one : wanted) {
    const RequestedPlace place = TRY(place_requested(config, network, one, chosen));
    chosen[place.set] = true;
  }
  return {};
}

}  // namespace railbed::api
