// SPDX-License-Identifier: Apache-2.0
#include "attach/result.h"

#include "attach/json_fields.h"
#include "doc/json.h"

namespace railbed::attach {

std::string to_json(const InterfaceResult& result) {
  doc::Value object = doc::Value::object();
  put_text(object, "interface", result.interface);
  put_text(object, "network", result.network);
  put_text(object, "type", result.type);
  put_text(object, "mac", result.mac);
  put_number(object, "mtu", result.mtu);
  put_prefixes(object, "addresses", result.addresses);
  put_parsed(object, "gateway", result.gateway);
  put_routes(object, "routes", result.routes);
  put_text(object, "pf", result.pf);
  put_parsed(object, "device", result.device);
  if (result.vf.has_value()) object.set("vf", result.vf->value);
  put_text(object, "hostName", result.host_name);
  put_text(object, "rdma", result.rdma);
  put_flag(object, "soft", result.soft);
  put_texts(object, "charDevices", result.char_devices);
  put_texts(object, "notes", result.notes);
  return doc::to_json(object);
}

Result<InterfaceResult> result_from_json(const std::string& text) {
  doc::Value object = TRY(parse_object(text));
  InterfaceResult result{.interface = text_in(object, "interface"),
                         .network = text_in(object, "network"),
                         .type = text_in(object, "type"),
                         .mac = text_in(object, "mac"),
                         .mtu = number_in(object, "mtu")};
  result.addresses = TRY(prefixes_in(object, "addresses"));
  result.gateway = TRY(parsed_in<IpAddress>(object, "gateway"));
  result.routes = TRY(routes_in(object, "routes"));
  result.pf = text_in(object, "pf");
  result.device = TRY(parsed_in<PciAddress>(object, "device"));
  if (object.find("vf") != nullptr) result.vf = VfIndex{number_in(object, "vf")};
  result.host_name = text_in(object, "hostName");
  result.rdma = text_in(object, "rdma");
  result.soft = flag_in(object, "soft");
  result.char_devices = texts_in(object, "charDevices");
  result.notes = texts_in(object, "notes");
  return result;
}

}  // namespace railbed::attach
