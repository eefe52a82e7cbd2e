// SPDX-License-Identifier: Apache-2.0
// Whatever a network can send to a client's port is parsed, interpreted as a lease, and encoded again to the same
// packet.
#include <cstdlib>

#include "ipam/dhcp_packet.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed::ipam;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  // Most inputs are options only; a valid header in front of them lets the parser reach them.
  std::string headed("\2\1\6", 3);
  headed.resize(236);
  headed += "\x63\x82\x53\x63" + bytes;
  for (const std::string& text : {bytes, headed}) {
    auto packet = read_dhcp(text);
    if (!packet.has_value()) continue;
    (void)packet->type();
    (void)lease_of(*packet);
    auto again = read_dhcp(to_bytes(*packet));
    if (!again.has_value() || !(*again == *packet)) std::abort();
  }
  return 0;
}
