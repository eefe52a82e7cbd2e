// SPDX-License-Identifier: Apache-2.0
// The `ipam` block of a network, typed.
//
// Field names are those of the reference plugins: host-local (ranges or subnet/rangeStart/rangeEnd/gateway),
// static (addresses), whereabouts (range, range_start, range_end, exclude, ipRanges, gateway, routes), dhcp.
// Threading: plain values. Failure: diagnostics with ids RB-IPAM-….
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "base/route.h"
#include "doc/diagnostic.h"
#include "doc/field.h"
#include "schema/cni_types.h"

namespace railbed::api {

struct NetworkConfig;  // objects.h

using schema::IpamType;

// Addresses first..last of `subnet`, without `excluded`. The assigned address carries subnet's length.
struct IpamRange {
  IpPrefix subnet;
  IpRange addresses;
  std::vector<IpPrefix> excluded;
  std::optional<IpAddress> gateway;
  doc::Where span;
  friend bool operator==(const IpamRange&, const IpamRange&) = default;
};

struct IpamConfig {
  IpamType type = IpamType::kNone;
  // Each set gives one address (an IPv4 and an IPv6 one, for example), from its first range that has room.
  std::vector<std::vector<IpamRange>> range_sets;
  struct Fixed {
    IpPrefix address;
    std::optional<IpAddress> gateway;
    friend bool operator==(const Fixed&, const Fixed&) = default;
  };
  std::vector<Fixed> fixed;  // static, and whereabouts' `addresses`
  std::vector<Route> routes;
  std::string network_name;  // whereabouts' network_name: pools of one name are shared
  doc::Where span;
  friend bool operator==(const IpamConfig&, const IpamConfig&) = default;
};

// `block` is the JSON object under "ipam"; an empty object means none. Nothing when it has errors.
std::optional<IpamConfig> parse_ipam(const doc::Value& block, doc::Diagnostics& diagnostics);

// The same for the code that attaches: `block` is of the network's main plugin; null, or of null: none. Invalid with
// all that is wrong, and where.
Result<IpamConfig> read_ipam(const doc::Value* block, const std::string& network);
Result<IpamConfig> read_ipam(const NetworkConfig& config, const std::string& network);

}  // namespace railbed::api
