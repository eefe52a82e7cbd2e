// SPDX-License-Identifier: Apache-2.0
// A route: as an `ipam` block, a DHCP server or a plugin's result names it, and as the kernel has it.
//
// Why one struct: a route travels from a network's configuration to a netlink message and into the result of ADD
// unchanged, except for the interface and the gateway, which are filled in on the way. Each external format has one
// reader and one writer: "ipam" (api/ipam.cc), DHCP options (ipam/dhcp_packet.cc), CNI results (cni/add_result.cc),
// records (attach/json_fields.cc), netlink (os/netlink/address_codec.cc).
// Threading: plain values.
// Failure: none.
#pragma once

#include <optional>

#include "base/ip.h"
#include "base/types.h"

namespace railbed {

struct Route {
  IpPrefix destination;  // of length 0: a default route of its address's family
  std::optional<IpAddress> gateway;
  IfIndex link;               // of the namespace in which it is; 0: not known yet
  std::optional<int> metric;  // "priority" in CNI
  std::optional<int> table;   // absent: main
  std::optional<int> mtu;
  std::optional<int> advmss;
  std::optional<int> scope;         // RT_SCOPE_*; absent: link without gateway, else universe
  std::optional<IpAddress> source;  // RTA_PREFSRC

  // 0.0.0.0/0 or ::/0.
  static IpPrefix everywhere(IpFamily family) { return {IpAddress{.family = family}, 0}; }
  static Route default_by(const IpAddress& gateway) {
    return {.destination = everywhere(gateway.family), .gateway = gateway};
  }
  IpFamily family() const { return destination.address.family; }
  bool is_default() const { return destination.length == 0; }
  friend bool operator==(const Route&, const Route&) = default;
};

}  // namespace railbed
