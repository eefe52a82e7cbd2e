// SPDX-License-Identifier: Apache-2.0
// For tests: what a node offers, VF by VF.
// Threading: plain values.
// Failure: none.
#pragma once

#include <string>

#include "kubelet/device_offers.h"

namespace railbed::kubelet {

inline const std::string kRail = "openshift.io/rail0";

inline PciAddress vf_address(int pf, int index) {
  return {.domain = 0, .bus = static_cast<uint8_t>(pf), .device = 1, .function = static_cast<uint8_t>(index)};
}

inline plan::PoolVf pool_vf(int pf, int index, std::optional<int> numa_node = std::nullopt) {
  plan::PoolVf vf{.pf = {.bus = static_cast<uint8_t>(pf)},
                  .pf_name = fmt::format("eth{}", pf),
                  .index = {index},
                  .address = vf_address(pf, index)};
  vf.numa_node = numa_node;
  return vf;
}

// `pfs` PFs with a link, each with `vfs` VFs with an interface and an RDMA device; all of them in one resource. PFs
// with an odd number are on NUMA node 1.
inline NodeDevices node_of(int pfs, int vfs, const std::string& resource = kRail) {
  NodeDevices node;
  auto& pool = node.resources[resource];
  for (int pf = 1; pf <= pfs; ++pf) {
    facts::Nic nic;
    nic.pci.address = {.bus = static_cast<uint8_t>(pf)};
    nic.netdevs.push_back({.name = fmt::format("eth{}", pf), .admin_up = true, .carrier = true});
    for (int i = 0; i < vfs; ++i) {
      facts::Vf vf{.index = {i}};
      vf.pci.address = vf_address(pf, i);
      vf.pci.driver = "mlx5_core";
      vf.netdev = facts::NetInterface{.name = fmt::format("eth{}v{}", pf, i)};
      vf.rdma = facts::RdmaDevice{.name = fmt::format("mlx5_{}", pf * 10 + i)};
      nic.vfs.push_back(vf);
      pool.push_back(pool_vf(pf, i, pf % 2));
    }
    node.facts.nics.push_back(nic);
  }
  return node;
}

}  // namespace railbed::kubelet
