// SPDX-License-Identifier: Apache-2.0
// rtnetlink's messages about addresses, routes and rules, as bytes.
//
// Threading: pure functions.
// Failure: messages that cannot be decoded, or that railbed does not use (multicast routes), return nothing.
// Source: linux/if_addr.h, linux/rtnetlink.h.
#pragma once

#include <optional>
#include <vector>

#include "os/ports/links.h"
#include "os/ports/netlink_message.h"

namespace railbed::os {

NetlinkRequest encode_list_addresses();
NetlinkRequest encode_add_address(const LinkAddress& address);
NetlinkRequest encode_remove_address(const LinkAddress& address);
std::optional<LinkAddress> decode_address(const NetlinkMessage& message);
// Of IPv6, and not permanent: the kernel has it from a router's advertisement.
bool is_advertised_address(const NetlinkMessage& message);

enum class Tables : bool { kMain, kAll };
NetlinkRequest encode_list_routes(IpFamily family, Tables which = Tables::kMain);
NetlinkRequest encode_add_route(const Route& route);
NetlinkRequest encode_remove_route(const Route& route);
// The unicast routes of the main table in one message, one per next hop.
std::vector<Route> decode_routes(const NetlinkMessage& message);
// Whether it is about a route that the kernel has from a router's advertisement.
bool is_advertised_route(const NetlinkMessage& message);
// The same for every table but "local".
std::vector<Route> decode_all_routes(const NetlinkMessage& message);

NetlinkRequest encode_list_rules(IpFamily family);
NetlinkRequest encode_add_rule(const Rule& rule);
NetlinkRequest encode_remove_rule(const Rule& rule);
// nullopt for rules without a source, and for those that name no table.
std::optional<Rule> decode_rule(const NetlinkMessage& message);

}  // namespace railbed::os
