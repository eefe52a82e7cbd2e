// SPDX-License-Identifier: Apache-2.0
// For tests of graph and plan: concise builders of objects and machines.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/objects.h"
#include "facts/node_facts.h"

namespace railbed::graph::examples {

inline PciAddress pci(std::string_view text) {
  return PciAddress::parse(text).value();
}

// A NIC at "0000:<bus>:00.0" that is up, allows `total` VFs and has none yet.
inline facts::Nic nic(std::string name, int bus, int total = 8, std::string vendor = "8086",
                      std::string device = "10c9") {
  facts::Nic made;
  made.pci.address = {.domain = 0, .bus = static_cast<uint8_t>(bus), .device = 0, .function = 0};
  made.pci.vendor = std::move(vendor);
  made.pci.device = std::move(device);
  made.pci.driver = made.pci.vendor == "15b3" ? "mlx5_core" : "igb";
  made.link_type = facts::LinkType::kEthernet;
  facts::NetInterface netdev;
  netdev.name = std::move(name);
  netdev.mac = MacAddress{{0x52, 0x54, 0, 0, static_cast<uint8_t>(bus), 0}};
  netdev.mtu = 1500;
  netdev.admin_up = true;
  made.netdevs.push_back(std::move(netdev));
  if (total > 0) {
    made.total_vfs = total;
    made.vfs_autoprobe = true;
    made.vf_offset = 128;
    made.vf_stride = 2;
  }
  return made;
}

inline facts::Nic infiniband(std::string name, int bus, int total = 8) {
  facts::Nic made = nic(std::move(name), bus, total, "15b3", "1021");
  made.link_type = facts::LinkType::kInfiniband;
  made.eswitch_mode = EswitchMode::kLegacy;
  facts::NetInterface& netdev = made.netdevs.front();
  netdev.mac.reset();
  netdev.mtu = 4092;
  facts::RdmaDevice rdma{.name = "mlx5_" + std::to_string(bus), .driver = "mlx5"};
  rdma.ports.push_back({.number = 1,
                        .link_type = facts::LinkType::kInfiniband,
                        .active_mtu = 4096,
                        .port_guid = Guid{0x3825f30300908500U + static_cast<uint64_t>(bus)}});
  made.rdma.push_back(std::move(rdma));
  return made;
}

// The same NIC with `count` VFs, each bound to the kernel's driver and with an interface.
inline facts::Nic with_vfs(facts::Nic made, int count) {
  made.num_vfs = count;
  for (int i = 0; i < count; ++i) {
    facts::Vf vf;
    vf.index = VfIndex{i};
    vf.pci.address = made.pci.address.plus(*made.vf_offset + static_cast<uint32_t>(i) * *made.vf_stride);
    vf.pci.driver = made.pci.driver == "igb" ? "igbvf" : made.pci.driver;
    facts::NetInterface netdev;
    netdev.name = made.netdevs.front().name + "v" + std::to_string(i);
    netdev.mtu = 1500;
    vf.netdev = std::move(netdev);
    vf.admin_mac = MacAddress{{2, 0, 0, 0, made.pci.address.bus, static_cast<uint8_t>(i + 1)}};
    if (made.link_type == facts::LinkType::kInfiniband)
      vf.node_guid = vf.port_guid = Guid{0x0200000000000000U + made.pci.address.bus * 256U + static_cast<uint64_t>(i)};
    made.vfs.push_back(std::move(vf));
  }
  return made;
}

inline facts::NodeFacts node(std::string name, std::vector<facts::Nic> nics) {
  facts::NodeFacts made;
  made.node = std::move(name);
  made.labels = {{"kubernetes.io/hostname", made.node}, {"feature.node.kubernetes.io/network-sriov.capable", "true"}};
  made.iommu = true;
  made.nics = std::move(nics);
  return made;
}

inline api::Metadata meta(std::string name, std::string ns = "op") {
  api::Metadata made;
  made.name = api::given(std::move(name));
  made.ns = api::given(std::move(ns));
  return made;
}

inline api::PfName pf(std::string name) {
  return {.name = std::move(name)};
}
inline api::PfName pf(std::string name, int first, int last) {
  return {.name = std::move(name), .vfs = api::PfName::Range{first, last}};
}

// resourceName is the policy's name.
inline api::SriovNetworkNodePolicy policy(std::string name, int num_vfs, std::vector<api::PfName> pfs,
                                          int priority = 99) {
  api::SriovNetworkNodePolicy made;
  made.meta = meta(name);
  made.resource_name = api::given(std::move(name));
  made.num_vfs = api::given(num_vfs);
  made.priority = api::given(priority);
  for (api::PfName& one : pfs) made.nic_selector.pf_names.push_back(api::given(std::move(one)));
  return made;
}

inline api::SriovNetwork network(std::string name, std::string resource, std::string ns = "llm") {
  api::SriovNetwork made;
  made.meta = meta(std::move(name));
  made.network_namespace = api::given(std::move(ns));
  made.resource_name = api::given(std::move(resource));
  return made;
}

inline api::Pod pod(std::string name, std::initializer_list<std::string> networks, std::string node = "",
                    std::string ns = "llm") {
  api::Pod made;
  made.meta = meta(std::move(name), std::move(ns));
  if (!node.empty()) made.node_name = api::given(std::move(node));
  for (const std::string& one : networks) {
    api::NetworkSelection selection;
    selection.name = api::given(one);
    made.networks.push_back(std::move(selection));
  }
  return made;
}

}  // namespace railbed::graph::examples
