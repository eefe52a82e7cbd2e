// SPDX-License-Identifier: Apache-2.0
#include "os/fake/machine.h"

namespace railbed::os {

FakePf FakePf::igb(PciAddress address, std::string name) {
  FakePf pf;
  pf.address = address;
  pf.name = std::move(name);
  return pf;
}

FakePf FakePf::mlx5(PciAddress address, std::string name, bool infiniband) {
  FakePf pf = igb(address, std::move(name));
  pf.driver = pf.vf_driver = "mlx5_core";
  pf.vendor = "15b3";
  pf.device = "1021";
  pf.vf_device = "101e";
  pf.class_code = infiniband ? "0207" : "0200";
  pf.total_vfs = 16;
  pf.vf_offset = 2;
  pf.vf_stride = 1;
  pf.max_mtu = infiniband ? 4092 : 9978;
  pf.infiniband = infiniband;
  pf.rdma = true;
  pf.eswitch = !infiniband;
  pf.firmware = "28.39.1002";
  if (infiniband)
    pf.refused = {"mac", "vlan", "spoofchk"};
  else
    pf.refused = {};
  return pf;
}

FakeMachine FakeMachine::lab() {
  FakeMachine machine;
  for (uint8_t i : {0, 1}) {
    FakePf pf = FakePf::igb(PciAddress{0, static_cast<uint8_t>(i + 1), 0, 0}, fmt::format("eth{}", i));
    pf.up = true;
    machine.pfs.push_back(std::move(pf));
  }
  return machine;
}

}  // namespace railbed::os
