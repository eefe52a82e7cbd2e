// SPDX-License-Identifier: Apache-2.0
#include "attach/preparation.h"

#include "attach/rdma.h"
#include "attach/source_routes.h"

namespace railbed::attach {

void Preparation::remember(const os::Link& link) {
  before_.name = link.name.value;
  before_.index = link.index.value;
  before_.kind = link.kind;
  if (!link.parent_bus.empty() && !before_.device.has_value())
    before_.parent = fmt::format("{}/devices/{}", link.parent_bus, link.parent_device);
  before_.hw_address = link.hw_address;
  before_.permanent_address = link.permanent_address;
  if (!link.parent_elsewhere) before_.parent_index = link.parent.value;
  before_.mtu = link.mtu;
  before_.up = link.up;
  if (spec_.mac.has_value() && link.mac() != spec_.mac) before_.new_mac = spec_.mac;
  if (spec_.promiscuous.has_value()) before_.promiscuous = link.promiscuous;
  if (spec_.all_multicast.has_value()) before_.all_multicast = link.all_multicast;
  if (spec_.tx_queue.has_value()) before_.tx_queue = link.tx_queue;
  out_.result.mtu = link.mtu;
  out_.result.mac = fmt::format("{:02x}", fmt::join(link.hw_address, ":"));
}

Result<std::vector<int>> Preparation::tables() {
  std::vector<int> all;
  for (size_t i = 0; i < spec_.addresses.size(); ++i)
    all.push_back(spec_.source_routing->table.has_value() ? *spec_.source_routing->table : TRY(pod_.free_table()));
  return all;
}

Result<void> Preparation::pod_routing() {
  if (spec_.source_routing.has_value()) before_.rules = source_rules(spec_.addresses, TRY(tables()));
  if (!spec_.vrf.has_value()) return {};
  before_.vrf = spec_.vrf->name;
  before_.vrf_table = TRY(pod_.vrf_table(spec_.vrf->name, spec_.vrf->table));
  return {};
}

Result<void> Preparation::hardware_rdma(const std::vector<std::string>& names) {
  out_.result.rdma = names.front();
  out_.result.char_devices = char_devices(host_.kernel().files(), names);
  auto port = TRY(host_.kernel().rdma());
  if (TRY(port->netns_mode()) == os::RdmaNetnsMode::kShared) {
    if (spec_.rdma_isolated)
      return fail(Error{.code = Code::kInvalid,
                        .message = "rdmaIsolation, but this node's namespaces share RDMA devices",
                        .hint = "rdma system set netns exclusive, before any pod has one"});
    return {};
  }
  before_.rdma = names;
  before_.rdma_undo = RdmaUndo::kMoveBack;
  return {};
}

}  // namespace railbed::attach
