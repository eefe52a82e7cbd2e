// SPDX-License-Identifier: Apache-2.0
// UDP in IPv4, as bytes.
// Threading: pure.
// Failure: nothing for a packet that is broken, a fragment, or not UDP.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/ports/packets.h"

namespace railbed::os {

// The packet from its IPv4 header on, with both checksums.
std::string to_ipv4(const UdpPacket& packet);
// Does not verify the UDP checksum: the kernel leaves it to hardware, which a veth does not have.
std::optional<UdpPacket> read_ipv4(std::string_view bytes);

}  // namespace railbed::os
