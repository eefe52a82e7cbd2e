// SPDX-License-Identifier: Apache-2.0
#include "node/pods_there.h"

#include <algorithm>

#include "attach/record.h"
#include "state/sandbox.h"

namespace railbed::node {

bool is_of_runtime(const std::string& pod) {
  return !state::Sandbox::of_key(pod).container.empty();
}

Result<PodsThere> pods_there(os::Kernel& kernel, state::Store* store) {
  PodsThere there;
  if (store == nullptr) return there;
  // Without a list nothing is known to be taken; making a namespace whose name is taken fails, and says so.
  if (auto names = kernel.netns().names()) there.namespaces.insert(names->begin(), names->end());
  std::vector<state::Attachment> records = TRY(store->attachments());
  const std::vector<attach::Presence> presence = TRY(attach::presence_of(kernel, records));
  for (size_t i = 0; i < records.size(); ++i) there.interfaces.push_back({std::move(records[i]), presence[i]});
  there.pods = TRY(store->pods());
  there.leases = TRY(store->all_leases());
  return there;
}

plan::InUse in_use_by(const PodsThere& there, const std::set<RecordId>& leaving) {
  plan::InUse in_use;
  for (const InterfaceThere& one : there.interfaces)
    if (auto device = PciAddress::parse(one.record.device); device && !leaving.contains(id_of(one.record)))
      in_use[*device] = one.record.pod;
  return in_use;
}

namespace {

facts::NetInterface at_home(const attach::Before& before) {
  facts::NetInterface netdev;
  netdev.name = before.name;
  netdev.mtu = before.mtu;
  netdev.admin_up = before.up;
  netdev.addresses = before.addresses;
  return netdev;
}

bool has(const std::vector<facts::NetInterface>& netdevs, const std::string& name) {
  return std::ranges::find(netdevs, name, &facts::NetInterface::name) != netdevs.end();
}

void give_back_vf(facts::Vf& vf, const attach::Before& before) {
  if (before.way == attach::Way::kMove && !vf.netdev) vf.netdev = at_home(before);
  if (before.vf_settings.mac) vf.admin_mac = before.vf_settings.mac;
  if (before.vf_settings.node_guid) vf.node_guid = before.vf_settings.node_guid;
  if (before.vf_settings.port_guid) vf.port_guid = before.vf_settings.port_guid;
}

void give_back(facts::NodeFacts& facts, const attach::Before& before) {
  if (before.way == attach::Way::kMove && !before.device && !has(facts.virtual_netdevs, before.name))
    facts.virtual_netdevs.push_back(at_home(before));
  if (!before.device) return;
  for (facts::Nic& nic : facts.nics) {
    if (nic.pci.address == *before.device && before.way == attach::Way::kMove && !has(nic.netdevs, before.name))
      nic.netdevs.push_back(at_home(before));
    for (facts::Vf& vf : nic.vfs)
      if (vf.pci.address == *before.device) give_back_vf(vf, before);
  }
}

bool moves_a_device(const attach::Before& before) {
  return before.way == attach::Way::kMove || before.way == attach::Way::kVfio;
}

}  // namespace

facts::NodeFacts facts_without(facts::NodeFacts facts, const PodsThere& there, const std::set<RecordId>& leaving) {
  for (const InterfaceThere& one : there.interfaces) {
    if (!leaving.contains(id_of(one.record))) continue;
    const auto before = attach::before_of(one.record);
    if (before && moves_a_device(*before)) give_back(facts, *before);
  }
  return facts;
}

std::set<std::string> lent_interfaces(const PodsThere& there) {
  std::set<std::string> names;
  for (const InterfaceThere& one : there.interfaces) {
    const auto before = attach::before_of(one.record);
    if (before && before->way == attach::Way::kMove && !before->name.empty()) names.insert(before->name);
  }
  return names;
}

}  // namespace railbed::node
