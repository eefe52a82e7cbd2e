// SPDX-License-Identifier: Apache-2.0
// UDP in IPv4, as bytes. Threading: pure. Failure: nothing for what is broken, a fragment, or no UDP.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/ports/packets.h"

namespace railbed::os {

// Beginning with the IPv4 header; both checksums are filled in.
std::string to_ipv4(const UdpPacket& packet);
// The UDP checksum is not looked at: the kernel leaves it to hardware that a veth does not have.
std::optional<UdpPacket> read_ipv4(std::string_view bytes);

}  // namespace railbed::os
