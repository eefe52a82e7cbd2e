// SPDX-License-Identifier: Apache-2.0
// Interfaces of the fake kernel: their namespaces, the interfaces on top of them, and their files.
#include <algorithm>

#include "os/fake/state.h"

namespace railbed::os {
namespace {

constexpr int kArpEthernet = 1;
constexpr int kArpInfiniband = 32;

MacAddress made_mac(PciAddress address, bool vf) {
  return MacAddress{{static_cast<uint8_t>(vf ? 0x02 : 0x52), 0x54, static_cast<uint8_t>(address.domain), 0, address.bus,
                     static_cast<uint8_t>(address.device << 3 | address.function)}};
}

// RFC 4391: flags and QPN, subnet prefix, port GUID.
std::vector<uint8_t> ipoib_address(Guid guid) {
  std::vector<uint8_t> bytes = {0, 0, 0x10, 0x28, 0xfe, 0x80, 0, 0, 0, 0, 0, 0};
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(guid.value >> shift));
  return bytes;
}

std::string pairs(const std::vector<uint8_t>& bytes) {
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : ":", byte);
  return text;
}

}  // namespace

Guid guid_of(const MacAddress& mac) {
  uint64_t value = 0;
  for (size_t i = 0; i < 6; ++i) {
    uint8_t byte = i == 0 ? mac.bytes[i] ^ 2 : mac.bytes[i];
    value = value << 8 | byte;
    if (i == 2) value = value << 16 | 0xfffe;
  }
  return Guid{value};
}

FakeNetdev* FakeState::netdev(NetdevId id) {
  auto found = netdevs.find(id);
  return found == netdevs.end() ? nullptr : &found->second;
}

FakeNetdev* FakeState::netdev_by_name(NsId ns, const std::string& name) {
  for (auto& [id, one] : netdevs)
    if (one.ns == ns && one.link.name.value == name) return &one;
  return nullptr;
}

FakeNetdev* FakeState::netdev_by_index(NsId ns, IfIndex index) {
  for (auto& [id, one] : netdevs)
    if (one.ns == ns && one.link.index == index) return &one;
  return nullptr;
}

FakeNetdev* FakeState::netdev_of(PciAddress address) {
  for (auto& [id, one] : netdevs)
    if (one.pci == address) return &one;
  return nullptr;
}

// Skips indexes of interfaces that moved in and kept theirs.
IfIndex FakeState::free_index(NsId ns) {
  IfIndex index;
  do index = IfIndex{namespaces[ns].next_index++};
  while (netdev_by_index(ns, index) != nullptr);
  return index;
}

FakeNetdev& FakeState::add_netdev(FakeNetdev added) {
  added.id = next_netdev_++;
  added.link.index = added.link.name.value == "lo" ? IfIndex{1} : free_index(added.ns);
  FakeNetdev& netdev = netdevs[added.id] = std::move(added);
  show_netdev(netdev);
  if (netdev.ns == kInitialNs)
    announce("add", "net", "/sys/class/net/" + netdev.link.name.value, {{"INTERFACE", netdev.link.name.value}});
  link_changed(netdev);
  update_carrier(netdev);
  return netdev;
}

// The interface that a network driver makes for its function. VFs are named after their PF, so that names do not depend
// on which PF was faster.
void FakeState::add_pci_netdev(PciAddress address) {
  FakeDevice& owner = *device(address);
  const FakePfState& pf = pf_of(owner);
  const FakePf& config = pf.config;
  const VfInfo* info = owner.vf && static_cast<size_t>(owner.vf->value) < pf.vfs.size()
                           ? &pf.vfs[static_cast<size_t>(owner.vf->value)]
                           : nullptr;
  MacAddress mac = made_mac(address, owner.vf.has_value());
  if (!owner.vf && !config.mac.is_zero()) mac = config.mac;
  if (info != nullptr && info->mac && !info->mac->is_zero()) mac = *info->mac;
  Guid guid = guid_of(mac);
  if (info != nullptr && info->port_guid && !info->port_guid->is_zero()) guid = *info->port_guid;

  FakeNetdev made{.pci = address, .max_mtu = config.max_mtu};
  made.carrier = pf.carrier;
  Link& link = made.link;
  link.name = IfName{owner.vf ? fmt::format("{}v{}", config.name, *owner.vf) : config.name};
  link.arp_type = config.infiniband ? kArpInfiniband : kArpEthernet;
  link.hw_address = config.infiniband ? ipoib_address(guid) : std::vector<uint8_t>(mac.bytes.begin(), mac.bytes.end());
  if (!owner.vf) link.permanent_address = link.hw_address;
  link.mtu = owner.vf ? std::min(1500, config.max_mtu) : config.mtu;
  link.parent_bus = "pci";
  link.parent_device = address.to_string();
  NetdevId id = 0;
  if (!config.name.empty()) {
    if (netdev_by_name(kInitialNs, link.name.value) != nullptr) link.name.value += "_";
    id = add_netdev(std::move(made)).id;
  }
  if (!config.rdma || !machine.rdma) return;
  int number = static_cast<int>(owner.pf);
  if (owner.vf) {
    number = static_cast<int>(pfs.size()) + owner.vf->value;
    for (size_t i = 0; i < owner.pf; ++i) number += pfs[i].config.total_vfs;
  }
  add_rdma({.name = fmt::format("mlx5_{}", number), .pci = address, .netdev = id, .guid = guid});
}

// Settings below conf/<name> and neigh/<name> vanish when the interface leaves the namespace.
void FakeState::forget_sysctls(const FakeNetdev& leaving) {
  std::string directory = fmt::format("/{}/", leaving.link.name);
  std::erase_if(namespaces[leaving.ns].sysctls,
                [&](const auto& one) { return one.first.find(directory) != std::string::npos; });
}

// As addrconf_notify(): below the least MTU of IPv6 an interface loses its IPv6 settings, which are initialized again
// above.
void FakeState::set_mtu(FakeNetdev& netdev, int mtu) {
  netdev.link.mtu = mtu;
  if (mtu >= kLeastIpv6Mtu) return;
  const std::string directory = fmt::format("net/ipv6/conf/{}/", netdev.link.name);
  std::erase_if(namespaces[netdev.ns].sysctls, [&](const auto& one) { return one.first.starts_with(directory); });
  netdev.advertised_addresses.clear();
  netdev.advertised_routes.clear();
}

void FakeState::remove_netdev(NetdevId id) {
  FakeNetdev* found = netdev(id);
  if (found == nullptr) return;
  FakeNetdev gone = *found;
  remove_rdma_on(id);
  forget_sysctls(gone);
  hide_netdev(gone);
  netdevs.erase(id);
  if (gone.ns == kInitialNs)
    announce("remove", "net", "/sys/class/net/" + gone.link.name.value, {{"INTERFACE", gone.link.name.value}});
  link_changed(gone);
  for (auto& [other, one] : netdevs)
    if (one.master == id) one.master = 0;
  std::vector<NetdevId> riders;
  for (const auto& [other, one] : netdevs)
    if (one.lower == id || one.peer == id) riders.push_back(other);
  for (NetdevId rider : riders) remove_netdev(rider);
}

// As in __dev_change_net_namespace(): the interface arrives down and without addresses, and soft RDMA devices on it are
// removed. A rename within the namespace does none of that.
void FakeState::move_netdev(FakeNetdev& moved, NsId to, const std::string& name) {
  hide_netdev(moved);
  NsId from = moved.ns;
  std::string old_name = moved.link.name.value;
  if (from != to) forget_sysctls(moved);
  moved.link.name = IfName{name};
  if (from != to) {
    remove_rdma_on(moved.id);
    moved.link.up = false;
    moved.addresses.clear();
    moved.advertised_addresses.clear();
    moved.advertised_routes.clear();
    moved.routes.clear();
    moved.unrouted.clear();
    moved.master = 0;
    link_changed(moved);
    if (netdev_by_index(to, moved.link.index) != nullptr) moved.link.index = free_index(to);
    moved.ns = to;
    namespaces[from].moved_to.insert(to);
  }
  show_netdev(moved);
  link_changed(moved);
  if (from == to && to == kInitialNs)
    announce("move", "net", "/sys/class/net/" + name, {{"INTERFACE", name}});
  else if (from == kInitialNs)
    announce("remove", "net", "/sys/class/net/" + old_name, {{"INTERFACE", old_name}});
  else if (to == kInitialNs)
    announce("add", "net", "/sys/class/net/" + name, {{"INTERFACE", name}});
  update_carrier(moved);
}

void FakeState::set_up(FakeNetdev& changed, bool up) {
  if (changed.link.up == up) return;
  changed.link.up = up;
  if (!up) {
    changed.routes.clear();
    changed.unrouted.clear();
  }
  link_changed(changed);
  show_netdev(changed);
  auto delay = up && changed.pci ? carrier_delay : std::chrono::milliseconds(0);
  later(delay, [this, id = changed.id] {
    if (FakeNetdev* found = netdev(id)) update_carrier(*found);
  });
}

void FakeState::update_carrier(FakeNetdev& changed) {
  const FakeNetdev* peer = netdev(changed.peer);
  const FakeNetdev* lower = netdev(changed.lower);
  bool carrier = changed.carrier && (peer == nullptr || peer->link.up) && (lower == nullptr || lower->link.lower_up);
  bool lower_up = changed.link.up && carrier;
  bool was = changed.link.lower_up;
  changed.link.lower_up = lower_up;
  changed.link.oper_state = lower_up ? "up" : "down";
  show_netdev(changed);
  if (was == lower_up && changed.peer == 0) return;
  link_changed(changed);
  show_rdma_state(changed);
  for (auto& [id, one] : netdevs) {
    if (one.lower == changed.id) update_carrier(one);
    if (one.id != changed.peer) continue;
    one.link.lower_up = one.link.up && changed.link.up;
    one.link.oper_state = one.link.lower_up ? "up" : "down";
    link_changed(one);
  }
}

Link FakeState::link_shown(const FakeNetdev& shown, WithVfs vfs) {
  Link link = shown.link;
  if (const FakeNetdev* parent = netdev(shown.lower != 0 ? shown.lower : shown.peer)) {
    link.parent = parent->link.index;
    link.parent_elsewhere = parent->ns != shown.ns;
    if (link.parent_elsewhere) link.parent_netns_id = parent->ns;
  }
  if (const FakeNetdev* master = netdev(shown.master)) link.master = master->link.index;
  const FakeDevice* owner = shown.pci ? device(*shown.pci) : nullptr;
  if (owner != nullptr && !owner->vf) {
    const FakePfState& pf = pfs[owner->pf];
    link.num_vfs = static_cast<int>(pf.vfs.size());
    if (vfs == WithVfs::kYes) link.vfs = pf.vfs;
  }
  return link;
}

namespace {

std::string net_path(FakeState& state, const FakeNetdev& shown) {
  const FakeDevice* owner = shown.pci ? state.device(*shown.pci) : nullptr;
  return (owner == nullptr ? "/sys/devices/virtual/net/" : owner->path + "/net/") + shown.link.name.value;
}

}  // namespace

void FakeState::show_netdev(const FakeNetdev& shown) {
  if (shown.ns != kInitialNs) return;
  std::string path = net_path(*this, shown);
  const Link& link = shown.link;
  auto put = [&](std::string_view name, const std::string& text) {
    files.put_file(fmt::format("{}/{}", path, name), text + "\n");
  };
  put("ifindex", std::to_string(link.index.value));
  put("address", pairs(link.hw_address));
  put("mtu", std::to_string(link.mtu));
  put("type", std::to_string(link.arp_type));
  put("flags", link.up ? "0x1003" : "0x1002");
  put("operstate", link.oper_state);
  put("carrier", link.lower_up ? "1" : "0");
  put("dev_port", "0");
  if (shown.pci) {
    put("speed", link.lower_up ? "1000" : "-1");
    files.put_link(path + "/device", fmt::format("../../../{}", *shown.pci));
  }
  files.put_link("/sys/class/net/" + link.name.value, "../.." + path.substr(4));
}

void FakeState::hide_netdev(const FakeNetdev& hidden) {
  if (hidden.ns != kInitialNs) return;
  std::string path = net_path(*this, hidden);
  files.remove("/sys/class/net/" + hidden.link.name.value);
  files.remove(path);
  std::string folder = path.substr(0, path.rfind('/'));
  if (auto left = files.list(folder); left && left->empty()) files.remove(folder);
}

}  // namespace railbed::os
