// SPDX-License-Identifier: Apache-2.0
// Any bytes as a DEL that the shim kept: no crash, and whatever is accepted is a DEL with a harmless name.
#include "agent/leftovers/replay.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto request = agent::read_pending({reinterpret_cast<const char*>(data), size});
  if (!request) {
    if (request.error().message.empty()) __builtin_trap();
    return 0;
  }
  if (request->command != cni::Command::kDel || !cni::valid_container_id(request->container_id) ||
      !cni::valid_interface_name(request->ifname))
    __builtin_trap();
  return 0;
}
