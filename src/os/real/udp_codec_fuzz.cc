// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "os/real/udp_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed::os;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  auto packet = read_ipv4(bytes);
  if (packet.has_value() && read_ipv4(to_ipv4(*packet)) != packet) std::abort();
  return 0;
}
