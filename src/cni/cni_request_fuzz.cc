// SPDX-License-Identifier: Apache-2.0
// Any bytes as environment and standard input, cut at NUL: what was taken has harmless names; a configuration
// that was taken is given to a plugin again the same.
#include "cni/config.h"
#include "cni/request.h"
#include "cni/wire.h"

using namespace railbed::cni;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string why;
  const auto wire = read_wire_request({reinterpret_cast<const char*>(data), size}, why);
  if (!wire) return 0;
  const auto request = read_request(wire->type, wire->environment, wire->config);
  if (!request) {
    if (request.error().message.empty()) __builtin_trap();
  } else {
    for (const std::string& name : {request->container_id, request->ifname, request->pod_uid(), request->type})
      if (name.find('/') != std::string::npos || name == ".." || name.find('\n') != std::string::npos) __builtin_trap();
    if (!request->netns.empty() && request->netns[0] != '/') __builtin_trap();
  }
  (void)read_plugin_config(wire->config);
  const auto list = read_list_config(wire->config);
  if (!list || list->name.empty()) return 0;
  const auto again = read_plugin_config(plugin_input(*list, 0, std::nullopt, {}));
  if (supported_version(list->version).has_value() && !again && code_of(again.error()) == kDecode) __builtin_trap();
  return 0;
}
