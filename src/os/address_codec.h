// SPDX-License-Identifier: Apache-2.0
// rtnetlink's messages about addresses and routes, as bytes.
//
// Threading: pure functions. Failure: messages that cannot be read, or tell of things railbed does not use
// (multicast routes, other tables), give nothing. Source: linux/if_addr.h, linux/rtnetlink.h.
#pragma once

#include <optional>
#include <vector>

#include "os/links.h"
#include "os/netlink_message.h"

namespace railbed::os {

NetlinkRequest encode_list_addresses();
NetlinkRequest encode_add_address(const LinkAddress& address);
NetlinkRequest encode_remove_address(const LinkAddress& address);
std::optional<LinkAddress> decode_address(const NetlinkMessage& message);

NetlinkRequest encode_list_routes(IpFamily family);
NetlinkRequest encode_add_route(const Route& route);
NetlinkRequest encode_remove_route(const Route& route);
// The unicast routes of the main table in one message: one per next hop.
std::vector<Route> decode_routes(const NetlinkMessage& message);

}  // namespace railbed::os
