// SPDX-License-Identifier: Apache-2.0
#include "attach/record.h"

#include "attach/json_fields.h"
#include "doc/json.h"

namespace railbed::attach {
namespace {

std::string hex(const std::vector<uint8_t>& bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

Result<std::vector<uint8_t>> bytes_of(const std::string& text) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned byte = 0;
    if (sscanf(text.substr(i, 2).c_str(), "%2x", &byte) != 1)
      return fail(Code::kInvalid, "\"{}\" is no hardware address", text);
    bytes.push_back(static_cast<uint8_t>(byte));
  }
  return bytes;
}

doc::Value addresses_value(const std::vector<ipam::Assigned>& addresses) {
  doc::Value array = doc::Value::array();
  for (const ipam::Assigned& one : addresses) {
    doc::Value item = doc::Value::object();
    put_text(item, "address", one.address.to_string());
    put_parsed(item, "gateway", one.gateway);
    put_text(item, "pool", one.pool);
    array.push(std::move(item));
  }
  return array;
}

doc::Value wish_value(const Wish& wish) {
  doc::Value object = doc::Value::object();
  put_text(object, "interface", wish.interface);
  put_text(object, "network", wish.network);
  put_text(object, "type", wish.type);
  put_text(object, "resource", wish.resource);
  put_number(object, "way", static_cast<int>(wish.way));
  put_parsed(object, "device", wish.device);
  put_text(object, "hostLink", wish.host_link);
  put_parsed(object, "hostMac", wish.host_mac);
  put_number(object, "macvlanMode", static_cast<int>(wish.macvlan_mode));
  put_number(object, "ipvlanMode", static_cast<int>(wish.ipvlan_mode));
  put_vf_settings(object, "vfSettings", wish.vf_settings);
  put_parsed(object, "mac", wish.mac);
  put_number(object, "mtu", wish.mtu.value_or(0));
  std::vector<std::string> sysctls;
  for (const auto& [key, value] : wish.sysctls) sysctls.push_back(key + "=" + value);
  put_texts(object, "sysctls", sysctls);
  put_flag(object, "rdma", wish.rdma);
  put_flag(object, "rdmaRequired", wish.rdma_required);
  put_flag(object, "softRdma", wish.soft_rdma);
  if (!wish.addresses.empty()) object.set("addresses", addresses_value(wish.addresses));
  put_routes(object, "routes", wish.routes);
  return object;
}

doc::Value before_value(const Before& before) {
  doc::Value object = doc::Value::object();
  put_number(object, "way", static_cast<int>(before.way));
  put_parsed(object, "device", before.device);
  put_parsed(object, "pf", before.pf);
  if (before.vf.has_value()) object.set("vf", before.vf->value);
  put_vf_settings(object, "vfSettings", before.vf_settings);
  put_text(object, "rebind", before.rebind);
  put_text(object, "name", before.name);
  put_number(object, "index", before.index);
  put_text(object, "kind", before.kind);
  put_text(object, "hwAddress", hex(before.hw_address));
  put_parsed(object, "newMac", before.new_mac);
  put_number(object, "mtu", before.mtu);
  put_flag(object, "up", before.up);
  put_prefixes(object, "addresses", before.addresses);
  put_routes(object, "routes", before.routes);
  put_number(object, "group", before.group);
  put_text(object, "rdma", before.rdma);
  put_number(object, "rdmaUndo", static_cast<int>(before.rdma_undo));
  return object;
}

}  // namespace

std::string undo_text(const Wish& wish, const Before& before) {
  return doc::to_json(before_value(before)) + "\n" + doc::to_json(wish_value(wish));
}

Result<Before> before_of(const state::Attachment& record) {
  const doc::Value object = TRY(parse_object(record.undo.substr(0, record.undo.find('\n'))));
  Before before{.way = static_cast<Way>(number_in(object, "way"))};
  before.device = TRY(parsed_in<PciAddress>(object, "device"));
  before.pf = TRY(parsed_in<PciAddress>(object, "pf"));
  if (object.find("vf") != nullptr) before.vf = VfIndex{number_in(object, "vf")};
  before.vf_settings = TRY(vf_settings_in(object, "vfSettings"));
  before.rebind = text_in(object, "rebind");
  before.name = text_in(object, "name");
  before.index = number_in(object, "index");
  before.kind = text_in(object, "kind");
  before.hw_address = TRY(bytes_of(text_in(object, "hwAddress")));
  before.new_mac = TRY(parsed_in<MacAddress>(object, "newMac"));
  before.mtu = number_in(object, "mtu");
  before.up = flag_in(object, "up");
  before.addresses = TRY(prefixes_in(object, "addresses"));
  before.routes = TRY(routes_in(object, "routes"));
  before.group = static_cast<uint32_t>(number_in(object, "group"));
  before.rdma = text_in(object, "rdma");
  before.rdma_undo = static_cast<RdmaUndo>(number_in(object, "rdmaUndo"));
  return before;
}

bool same_wish(const state::Attachment& record, const Wish& wish) {
  size_t end = record.undo.find('\n');
  return end != std::string::npos &&
         std::string_view(record.undo).substr(end + 1) == doc::to_json(wish_value(wish));
}

}  // namespace railbed::attach
