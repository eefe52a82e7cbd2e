// SPDX-License-Identifier: Apache-2.0
#include "attach/preparation.h"

#include "attach/rdma.h"
#include "attach/source_routes.h"
#include "state/sandbox.h"

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
                        .message = "rdmaIsolation requires exclusive RDMA namespaces, but this node's are shared",
                        .hint = "run `rdma system set netns exclusive` before any pod has an RDMA device"});
    return {};
  }
  before_.rdma = names;
  before_.rdma_undo = RdmaUndo::kMoveBack;
  return {};
}

namespace {

// "a0:…:02:00:00:00:00:00:00:09": the GUID is the end of an IPoIB address.
bool has_guid(const InterfaceResult& result, Guid guid) {
  constexpr size_t kIpoibText = 20 * 3 - 1;
  return result.mac.size() == kIpoibText && result.mac.ends_with(guid.to_pairs());
}

}  // namespace

// The same pod's other sandbox is no other pod: a runtime may ask for the next one before the DEL of the last.
Result<void> Preparation::identity_is_free() {
  if (!spec_.chosen_mac.has_value() && !spec_.chosen_guid.has_value()) return {};
  const auto refused = [](const std::string& what, const std::string& whose) {
    return fail(Error{.code = Code::kConflict,
                      .message = fmt::format("the pod requests {}, which {} has on this node", what, whose),
                      .hint = "request another one, or none"});
  };
  const std::string pod = state::Sandbox::of_key(out_.record.pod).pod;
  for (const state::Attachment& other : TRY(store_.attachments())) {
    const std::string others = state::Sandbox::of_key(other.pod).pod;
    if (others == pod || other.type.starts_with(kProgramPrefix)) continue;  // programs' results are not read here
    const Before before = TRY(before_of(other));
    const Result<InterfaceResult> result = result_from_json(other.result);  // none while it is being attached
    const std::string whose = fmt::format("interface {} of pod {}", other.interface, others);
    if (const auto& mac = spec_.chosen_mac; mac.has_value())
      if (before.new_mac == mac || (result.has_value() && result->mac == mac->to_string()))
        return refused(fmt::format("MAC {}", *mac), whose);
    if (const auto& guid = spec_.chosen_guid; guid.has_value() && result.has_value() && has_guid(*result, *guid))
      return refused(fmt::format("GUID {}", guid->to_pairs()), whose);
  }
  if (!spec_.chosen_guid.has_value() || !spec_.pf.has_value() || !spec_.vf.has_value()) return {};
  for (VfIndex vf{0};; ++vf.value) {
    const Result<os::VfInfo> one = host_.vf(*spec_.pf, vf);
    if (!one.has_value()) return {};
    if (vf != *spec_.vf && (one->port_guid == spec_.chosen_guid || one->node_guid == spec_.chosen_guid))
      return refused(fmt::format("GUID {}", spec_.chosen_guid->to_pairs()),
                     fmt::format("VF {} of PF {}", vf.value, *spec_.pf));
  }
}

}  // namespace railbed::attach
