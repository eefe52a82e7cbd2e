// SPDX-License-Identifier: Apache-2.0
// What a pod may ask of a network, and what a network's plugins may set: the part of attaching that needs no machine.
//
// Why below attach and agent: an agent that refuses a pod at its ADD, and `check`, which judges manifests before, must
// give one answer. Both call these functions; a property test compares the two over generated configurations.
// Threading: pure functions.
// Failure: a problem is a part of a sentence; empty, or nothing, where there is none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/objects.h"
#include "base/ip.h"
#include "base/route.h"

namespace railbed::api {

// Why no interface can have this address: "01:… is a multicast MAC address".
std::string mac_problem(const MacAddress& mac);

// "net.ipv4.conf.IFNAME.arp_filter" of net1 → "net/ipv4/conf/net1/arp_filter". Interface names may have dots, so the
// name goes in last; a key that is spelled with slashes stays as it is.
std::string sysctl_path(std::string_view key, std::string_view interface);
// Why the tuning plugin cannot set this path in a pod: it is in no network namespace, or it is the machine's.
std::string sysctl_problem(std::string_view path);

// Whether a plugin's configuration declares the capability.
bool declares(const doc::Value& plugin, std::string_view capability);
// The type of a plugin's configuration; empty where it says none.
std::string_view plugin_type(const doc::Value& plugin);

// A request of a pod that no plugin of the network takes. It must not be dropped silently: an address, MAC or GUID that
// a pod chooses may be another pod's.
struct UntakenDemand {
  std::string what;  // "ips", "cni-args.mac"
  std::string_view capability;
  doc::Span span;
};
std::optional<UntakenDemand> untaken_demand(const NetworkSelection& selection, std::span<const doc::Value> plugins);

// Two networks of a pod, by position, that both shall have its default route of one family; one network with two
// gateways is both.
struct DefaultRouteClash {
  IpFamily family = IpFamily::kV4;
  size_t first = 0;
  size_t second = 0;
};
// `gateways`: the "default-route" of each network.
std::optional<DefaultRouteClash> default_route_clash(std::span<const std::span<const IpAddress>> gateways);

// Whether an interface with these addresses, and with these routes that are set before, reaches the gateway directly;
// the kernel refuses a route by any other one (fib_check_nh, ip6_route_check_nh). An IPv6 link-local gateway is on
// every link.
bool is_on_link(const IpAddress& gateway, std::span<const IpPrefix> addresses, std::span<const Route> routes);

}  // namespace railbed::api
