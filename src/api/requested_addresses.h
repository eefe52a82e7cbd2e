// SPDX-License-Identifier: Apache-2.0
// Specific addresses that a pod requests ("ips" in the networks annotation): which a network's ipam block can allocate.
//
// Why below ipam: what a range can allocate at all, independent of current holders, is the same for an agent that
// allocates addresses and for `check`, which judges manifests before any pod exists.
// Threading: pure functions.
// Failure: Invalid names the network, the address and what the block has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/ipam.h"
#include "base/error.h"
#include "base/ip.h"

namespace railbed::api {

// The gateways of all ranges and routes of a network.
std::vector<IpAddress> gateways_of(const IpamConfig& config);

// Whether an interface may get `address` of `range` at all: it is inside, not excluded, and no gateway, network or
// broadcast address.
bool usable(const IpAddress& address, const IpamRange& range, const std::vector<IpAddress>& gateways);
// The last address of the excluded prefix that contains `address`; nothing where none does.
std::optional<IpAddress> end_of_exclusion(const IpAddress& address, const IpamRange& range);
// Whether it is the subnet's network or broadcast address, or its subnet-router anycast address (RFC 4291 2.6.1).
bool is_subnets_own(const IpAddress& address, const IpPrefix& subnet);

// "10.0.0.9/24" or "10.0.0.9".
struct RequestedAddress {
  IpAddress address;
  std::optional<int> length;
  std::string text;
};
Result<RequestedAddress> parse_requested(const std::string& text);

struct RequestedPlace {
  size_t set = 0;  // of IpamConfig::range_sets
  const IpamRange* range = nullptr;
};
// The range that gives the address. `chosen`: by range set, whether the interface has an address of it already.
Result<RequestedPlace> place_requested(const IpamConfig& config, const std::string& network,
                                       const RequestedAddress& requested, const std::vector<bool>& chosen);

// Whether the network can give these addresses, and any at all; which of them other pods hold is not considered.
// Nothing is known about addresses of a DHCP server.
Result<void> can_give(const IpamConfig& config, const std::string& network, const std::vector<std::string>& requested);

// "10.0.0.1-10.0.0.254 of 10.0.0.0/24; …"
std::string describe_ranges(const std::vector<std::vector<IpamRange>>& sets);
std::string describe_ranges(const std::vector<IpamRange>& set);

}  // namespace railbed::api
