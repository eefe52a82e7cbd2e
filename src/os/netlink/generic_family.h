// SPDX-License-Identifier: Apache-2.0
// The number that a family of generic netlink has on this kernel.
//
// Threading: pure functions; find_family() that of the socket.
// Failure: Unsupported where the kernel has no such family; messages that cannot be decoded return nothing.
// Source: linux/genetlink.h.
#pragma once

#include <optional>
#include <string>

#include "os/netlink/netlink_socket.h"

namespace railbed::os {

// Over a socket of NETLINK_GENERIC.
Result<uint16_t> find_family(NetlinkSocket& socket, const std::string& name);

NetlinkRequest encode_find_family(const std::string& name);
std::optional<uint16_t> decode_family(const NetlinkMessage& message);

}  // namespace railbed::os
