// SPDX-License-Identifier: Apache-2.0
// The lowest free address of a range. Threading: pure functions. Failure: none; nothing when it is full.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ipam/assign.h"

namespace railbed::ipam {

// Gateways of all ranges and routes of a network.
std::vector<IpAddress> gateways_of(const api::IpamConfig& config);

// Whether `address` of `range` may be given to an interface at all: inside, not excluded, no gateway, no
// network or broadcast address.
bool usable(const IpAddress& address, const api::IpamRange& range, const std::vector<IpAddress>& gateways);

std::optional<IpAddress> lowest_free(const api::IpamRange& range, const std::vector<IpAddress>& gateways,
                                     const std::map<IpAddress, Owner>& taken);

}  // namespace railbed::ipam
