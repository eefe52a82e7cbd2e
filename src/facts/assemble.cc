// SPDX-License-Identifier: Apache-2.0
#include "facts/assemble.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "facts/natural_order.h"

namespace railbed::facts {
namespace {

// The NIC, or the VF of it, that things found at a PCI function belong to.
struct Place {
  size_t nic = 0;
  std::optional<size_t> vf;  // its position in that NIC's vfs
};
using Places = std::unordered_map<PciAddress, Place>;

Nic nic_of(PciDevice device, const SriovState* sriov) {
  Nic nic{.pci = std::move(device)};
  if (sriov == nullptr) return nic;
  nic.total_vfs = sriov->total_vfs;
  nic.num_vfs = sriov->num_vfs;
  nic.vfs_autoprobe = sriov->autoprobe;
  nic.vf_offset = sriov->vf_offset;
  nic.vf_stride = sriov->vf_stride;
  nic.vf_device = sriov->vf_device;
  return nic;
}

// Makes the NICs with their VFs (without contents yet) and returns the place of each function.
Places place_functions(Attributes& attributes, PciScan pci, std::vector<Nic>& nics) {
  std::unordered_map<PciAddress, PciDevice> vf_devices;
  Places places;
  for (PciDevice& device : pci.network) {
    if (pci.vfs.contains(device.address)) {
      vf_devices.emplace(device.address, std::move(device));
      continue;
    }
    auto sriov = pci.sriov.find(device.address);
    places.emplace(device.address, Place{.nic = nics.size()});
    nics.push_back(nic_of(std::move(device), sriov == pci.sriov.end() ? nullptr : &sriov->second));
  }
  for (const auto& [pf, sriov] : pci.sriov) {
    size_t position = places.at(pf).nic;
    for (const auto& [index, address] : sriov.vfs) {
      auto device = vf_devices.find(address);
      if (device == vf_devices.end()) {
        attributes.note(
            fmt::format("VF {} of {} is linked as {}, which is not a network function here", index, pf, address));
        continue;
      }
      places.emplace(address, Place{.nic = position, .vf = nics[position].vfs.size()});
      nics[position].vfs.push_back({.index = {index}, .pci = std::move(device->second)});
      vf_devices.erase(device);
    }
  }
  for (const PciAddress& orphan : pci.orphans)
    attributes.note(fmt::format("{} says that it is a VF, but its PF does not list it", orphan));
  return places;
}

// Names the interface of each RDMA port where neither netlink nor a GID did: that with the port's number. mlx4 has both
// ports on one function, one perhaps InfiniBand and one Ethernet; a function with one of each needs no look.
void pair_ports(Attributes& attributes, Nic& nic) {
  size_t ports = 0;
  for (const RdmaDevice& device : nic.rdma) ports += device.soft ? 0 : device.ports.size();
  if (ports < 2 || nic.netdevs.empty()) return;
  for (const NetInterface& netdev : nic.netdevs) {
    const int number = attributes.small_number("/sys/class/net/" + netdev.name + "/dev_port").value_or(0) + 1;
    for (RdmaDevice& device : nic.rdma)
      for (RdmaPort& port : device.ports) {
        const bool same_kind = (port.link_type == LinkType::kInfiniband) == netdev.ipoib.has_value();
        if (!device.soft && port.netdev.empty() && port.number == number && same_kind) port.netdev = netdev.name;
      }
  }
}

// Keeps the card's own ports, in their order; representors of its VFs become virtual interfaces.
void order_ports(Attributes& attributes, Nic& nic, std::vector<NetInterface>& virtual_netdevs) {
  if (nic.netdevs.size() < 2) return;
  std::vector<std::pair<int, NetInterface>> ports;
  for (NetInterface& netdev : nic.netdevs) {
    std::string folder = "/sys/class/net/" + netdev.name;
    if (is_representor(attributes.text(folder + "/phys_port_name").value_or(""))) {
      netdev.kind = "representor";
      virtual_netdevs.push_back(std::move(netdev));
      continue;
    }
    ports.emplace_back(attributes.small_number(folder + "/dev_port").value_or(0), std::move(netdev));
  }
  std::ranges::stable_sort(ports, {}, [](const auto& port) { return port.first; });
  nic.netdevs.clear();
  for (auto& [number, netdev] : ports) nic.netdevs.push_back(std::move(netdev));
}

LinkType type_of(const Nic& nic) {
  for (const RdmaDevice& device : nic.rdma)
    for (const RdmaPort& port : device.ports)
      if (!device.soft && port.link_type != LinkType::kUnknown) return port.link_type;
  for (const NetInterface& netdev : nic.netdevs) {
    if (netdev.ipoib) return LinkType::kInfiniband;
    if (netdev.mac) return LinkType::kEthernet;
  }
  if (nic.pci.class_code == "0207" || nic.pci.class_code == "0c06") return LinkType::kInfiniband;
  return nic.pci.class_code == "0200" ? LinkType::kEthernet : LinkType::kUnknown;
}

// RoCE's path MTU follows from the interface's MTU. sysfs has none for InfiniBand.
void set_active_mtu(RdmaPort& port, const NetInterface* netdev) {
  if (netdev == nullptr || port.link_type != LinkType::kEthernet || port.active_mtu) return;
  if (int mtu = roce_mtu(netdev->mtu); mtu > 0) port.active_mtu = mtu;
}

class Assembly {
 public:
  Assembly(Attributes& attributes, NodeFacts& facts) : attributes_(attributes), facts_(facts) {}

  void functions(PciScan pci) { places_ = place_functions(attributes_, std::move(pci), facts_.nics); }

  void interface(FoundInterface found) {
    if (found.is_loopback) return;
    auto at = found.pci && !found.is_child && !found.is_subfunction ? places_.find(*found.pci) : places_.end();
    if (at == places_.end()) {
      facts_.virtual_netdevs.push_back(std::move(found.facts));
      return;
    }
    netdev_places_.emplace(found.facts.name, at->second);
    Nic& nic = facts_.nics[at->second.nic];
    if (!at->second.vf) {
      nic.netdevs.push_back(std::move(found.facts));
      return;
    }
    std::optional<NetInterface>& slot = nic.vfs[*at->second.vf].netdev;
    if (slot)
      facts_.virtual_netdevs.push_back(std::move(found.facts));
    else
      slot = std::move(found.facts);
  }

  void rdma(FoundRdma found) {
    const Place* place = place_of(found);
    if (place == nullptr) {
      facts_.virtual_rdma.push_back(std::move(found.facts));
      return;
    }
    Nic& nic = facts_.nics[place->nic];
    const PciDevice& pci = place->vf ? nic.vfs[*place->vf].pci : nic.pci;
    if (found.facts.driver.empty() && !found.facts.soft) found.facts.driver = rdma_driver(pci.driver);
    for (RdmaPort& port : found.facts.ports)
      set_active_mtu(port, netdev_of(*place, port.netdev.empty() ? found.netdev : port.netdev));
    if (!place->vf) {
      if (nic.firmware.empty() && !found.facts.soft) nic.firmware = found.facts.firmware;
      nic.rdma.push_back(std::move(found.facts));
      return;
    }
    std::optional<RdmaDevice>& slot = nic.vfs[*place->vf].rdma;
    if (slot)
      facts_.virtual_rdma.push_back(std::move(found.facts));
    else
      slot = std::move(found.facts);
  }

  void finish() {
    for (Nic& nic : facts_.nics) {
      order_ports(attributes_, nic, facts_.virtual_netdevs);
      pair_ports(attributes_, nic);
      nic.link_type = type_of(nic);
    }
    std::ranges::sort(facts_.virtual_netdevs, natural_less, &NetInterface::name);
  }

 private:
  const Place* place_of(const FoundRdma& found) const {
    if (found.pci) {
      auto at = places_.find(*found.pci);
      return at == places_.end() ? nullptr : &at->second;
    }
    auto at = netdev_places_.find(found.netdev);
    return at == netdev_places_.end() ? nullptr : &at->second;
  }

  const NetInterface* netdev_of(const Place& place, const std::string& name) const {
    const Nic& nic = facts_.nics[place.nic];
    if (place.vf) {
      const std::optional<NetInterface>& netdev = nic.vfs[*place.vf].netdev;
      return netdev ? &*netdev : nullptr;
    }
    auto named = std::ranges::find(nic.netdevs, name, &NetInterface::name);
    if (named != nic.netdevs.end()) return &*named;
    return nic.netdevs.empty() ? nullptr : &nic.netdevs.front();
  }

  Attributes& attributes_;
  NodeFacts& facts_;
  Places places_;
  std::unordered_map<std::string, Place> netdev_places_;
};

std::string_view text_of(os::VfLinkState state) {
  switch (state) {
    case os::VfLinkState::kAuto:
      return "auto";
    case os::VfLinkState::kEnable:
      return "enable";
    case os::VfLinkState::kDisable:
      return "disable";
  }
  return "";
}

void apply_vf_info(Vf& vf, const os::VfInfo& info, bool ethernet) {
  if (ethernet) vf.admin_mac = info.mac;
  vf.vlan = info.vlan;
  vf.vlan_qos = info.qos;
  if (info.vlan != 0) vf.vlan_proto = info.proto == os::VlanProto::k8021ad ? "802.1ad" : "802.1q";
  vf.spoof_check = info.spoof_check;
  vf.trust = info.trust;
  vf.query_rss = info.query_rss;
  if (info.link_state) vf.link_state = text_of(*info.link_state);
  vf.min_tx_rate_mbps = info.min_tx_rate_mbps;
  vf.max_tx_rate_mbps = info.max_tx_rate_mbps;
  if (info.node_guid && !info.node_guid->is_zero()) vf.node_guid = info.node_guid;
  if (info.port_guid && !info.port_guid->is_zero()) vf.port_guid = info.port_guid;
}

}  // namespace

void assemble(Attributes& attributes, PciScan pci, std::vector<FoundInterface> interfaces,
              std::vector<FoundRdma> devices, NodeFacts& facts) {
  Assembly assembly(attributes, facts);
  assembly.functions(std::move(pci));
  for (FoundInterface& found : interfaces) assembly.interface(std::move(found));
  for (FoundRdma& found : devices) assembly.rdma(std::move(found));
  assembly.finish();
}

void apply_vf_info(Nic& nic, const std::vector<os::VfInfo>& infos) {
  std::unordered_map<int, Vf*> by_index;
  for (Vf& vf : nic.vfs) by_index.emplace(vf.index.value, &vf);
  for (const os::VfInfo& info : infos)
    if (auto at = by_index.find(info.index.value); at != by_index.end())
      apply_vf_info(*at->second, info, nic.link_type != LinkType::kInfiniband);
}

}  // namespace railbed::facts
