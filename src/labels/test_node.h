// SPDX-License-Identifier: Apache-2.0
// For tests: NICs and nodes by a few words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "facts/node_facts.h"
#include "labels/node_labels.h"

namespace railbed::labels::testing {

inline PciAddress pf(int rail) {
  return PciAddress::parse(fmt::format("0000:{:02x}:00.0", rail + 1)).value();
}

// A port of rail `rail` with 8 VFs, up.
inline facts::Nic nic(int rail, facts::LinkType link, std::string vendor = "15b3") {
  facts::Nic made;
  made.pci.address = pf(rail);
  made.pci.vendor = std::move(vendor);
  made.pci.device = "1021";
  made.pci.class_code = link == facts::LinkType::kInfiniband ? "0207" : "0200";
  made.link_type = link;
  made.total_vfs = 16;
  made.num_vfs = 8;
  facts::RdmaDevice rdma;
  rdma.name = fmt::format("mlx5_{}", rail);
  rdma.driver = "mlx5";
  facts::RdmaPort port;
  port.link_type = link;
  port.state = "ACTIVE";
  port.rate_gbps = 400;
  rdma.ports.push_back(std::move(port));
  made.rdma.push_back(std::move(rdma));
  return made;
}

inline facts::NodeFacts node(std::vector<facts::Nic> nics) {
  facts::NodeFacts made;
  made.node = "gpu1";
  made.modules = {"ib_uverbs", "rdma_ucm"};
  made.nics = std::move(nics);
  return made;
}

}  // namespace railbed::labels::testing
