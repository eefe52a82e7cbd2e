// SPDX-License-Identifier: Apache-2.0
// The RDMA devices of a machine, with each port's properties, and the owner of each device.
//
// Why: two sources are needed. Netlink knows ports and, as the only source, which interface a soft-RoCE device uses;
// but sysfs has rates, GIDs, partition keys and board names. /sys/class/infiniband also lists things that are not HCAs
// (scif0 of an accelerator card): a device that has no ports and is unknown to netlink is skipped.
// Threading: one thread.
// Failure: absent facts, with lines in the problems of `attributes`.
// Sources: Documentation/ABI/stable/sysfs-class-infiniband; rdma/rdma_netlink.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "facts/attributes.h"
#include "facts/node_facts.h"
#include "os/ports/rdma.h"

namespace railbed::facts {

struct FoundRdma {
  RdmaDevice facts;
  std::optional<PciAddress> pci;  // its parent in sysfs; absent for soft devices
  std::string netdev;             // the interface of its first port, where known
};

// An entry of /sys/class/infiniband and the PCI function it belongs to.
struct RdmaName {
  std::string name;
  std::string folder;  // in sysfs
  std::optional<PciAddress> pci;
  bool is_virtual = false;  // below /sys/devices/virtual, so a soft device
};
std::vector<RdmaName> rdma_names(Attributes& attributes);

// In natural order of names. `port` may be null: then sysfs alone serves. A node can have a thousand VFs, and a GID
// table 256 entries (1,024 with rxe), so for soft devices and those on one of `vfs` only the front of the tables is
// read, where the kernel and the subnet manager begin to fill them: GID 0 alone on InfiniBand, GIDs up to a run of 4
// empty ones on RoCE, partition keys up to the first empty one. VFs get no board name: it is that of their PF.
std::vector<FoundRdma> scan_rdma(Attributes& attributes, os::RdmaPort* port, const std::vector<RdmaName>& names,
                                 const std::unordered_map<PciAddress, PciAddress>& vfs);

std::string after_number(std::string_view text);         // "ACTIVE" of "4: ACTIVE"
std::optional<double> rate_gbps(std::string_view text);  // 400 of "400 Gb/sec (4X NDR)"
LinkType link_type_of(std::string_view link_layer);      // of "InfiniBand" or "Ethernet"
// The path MTU that RoCE derives from an interface's MTU (include/rdma/ib_addr.h, iboe_get_mtu): 4096 for 9000, 1024
// for 1500.
int roce_mtu(int netdev_mtu);
// "mlx5" for a function whose driver is mlx5_core.
std::string rdma_driver(std::string_view pci_driver);

}  // namespace railbed::facts
