// SPDX-License-Identifier: Apache-2.0
// The description that a FakeKernel is built from.
// Threading: plain values.
// Failure: none.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/types.h"
#include "os/ports/rdma.h"
#include "os/record/netlink_answers.h"

namespace railbed::os {

struct FakePf {
  PciAddress address;
  std::string name;  // of its interface; empty: it has none
  std::string driver = "igb";
  std::string vf_driver = "igbvf";
  std::string vendor = "8086";
  std::string device = "10c9";
  std::string vf_device = "10ca";
  std::string class_code = "0200";
  int total_vfs = 7;
  uint32_t vf_offset = 0x80;
  uint32_t vf_stride = 2;
  int num_vfs = 0;  // made at the start, bound when autoprobe is on
  bool autoprobe = true;
  int numa_node = -1;
  MacAddress mac;  // zero: derived from the address
  int mtu = 1500;
  int max_mtu = 9216;
  bool up = false;
  bool carrier = true;
  bool infiniband = false;  // link layer of its interfaces and RDMA devices
  bool rdma = false;        // an RDMA device ("mlx5_<n>") on the PF, and on each VF while vf_driver is bound
  bool eswitch = false;
  std::string firmware = "1.0";
  // Settings that the driver refuses with EOPNOTSUPP: "mac", "vlan", "rate", "spoofchk", "trust", "state",
  // "node_guid", "port_guid".
  std::set<std::string> refused = {"state", "node_guid", "port_guid"};

  // The lab's card (see above) and a ConnectX-7.
  static FakePf igb(PciAddress address, std::string name);
  static FakePf mlx5(PciAddress address, std::string name, bool infiniband = false);
};

struct FakeMachine {
  std::string host_name = "node1";
  std::string kernel_release = "6.12.0";
  std::vector<FakePf> pfs;
  std::vector<std::string> other_links;  // further Ethernet interfaces of the host, without SR-IOV, up
  bool iommu = true;                     // a group per function
  bool rdma = true;                      // the kernel has RDMA netlink and rxe
  bool ipv6 = true;
  RdmaNetnsMode rdma_mode = RdmaNetnsMode::kShared;
  std::set<std::string> loadable = {"vfio-pci", "rdma_rxe"};  // modules that modprobe can load
  std::set<std::string> missing_capabilities;
  // To questions over netlink, besides those about `pfs` with an eswitch; to any other question the answer is ENODEV.
  NetlinkAnswers answers;

  // The lab's guest: two igb PFs, "eth0" at 0000:01:00.0 and "eth1" at 0000:02:00.0, both up.
  static FakeMachine lab();
};

}  // namespace railbed::os
