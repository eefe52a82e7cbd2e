// SPDX-License-Identifier: Apache-2.0
#include "attach/result.h"

#include "attach/json_fields.h"
#include "doc/json.h"
#include "doc/record.h"

namespace railbed::attach {

template <typename Io, doc::Is<InterfaceResult> T>
void fields(Io& io, T& result) {
  io.some("interface", result.interface);
  io.some("network", result.network);
  io.some("type", result.type);
  io.some("mac", result.mac);
  io.some("mtu", result.mtu);
  io.some("addresses", result.addresses);
  io.some("gateway", result.gateway);
  io.each("routes", result.routes, kRouteMembers);
  io.some("pf", result.pf);
  io.some("device", result.device);
  io.some("vf", result.vf);
  io.some("hostName", result.host_name);
  io.some("rdma", result.rdma);
  io.some("soft", result.soft);
  io.some("charDevices", result.char_devices);
  io.some("notes", result.notes);
}

std::string to_json(const InterfaceResult& result) {
  return doc::to_json(doc::record_value(result));
}

Result<InterfaceResult> result_from_json(const std::string& text) {
  return read_recorded<InterfaceResult>(text);
}

}  // namespace railbed::attach
