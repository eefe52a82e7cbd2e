// SPDX-License-Identifier: Apache-2.0
// The capacity of a port and of its PCIe link.
//
// Why: 40 Gb/s are excellent on one link and a tenth of another. The kernel reports the rate of a port and how its PCIe
// link was trained; line coding, packet headers and the headers on PCIe are subtracted here, once.
// Threading: pure except for the reading.
// Failure: none; what cannot be read is 0, and nothing is reported about it.
// Sources: drivers/infiniband/core/sysfs.c (rate_show); PCI Express Base Specification 5.0, 2.2 and 4.2.
#pragma once

#include <string>
#include <string_view>

#include "os/ports/file_tree.h"
#include "rdma/port.h"

namespace railbed::rdma {

enum class LinkLayer : uint8_t { kEthernet, kInfiniBand };

// The data rate that "400 Gb/sec (4X NDR)" means; 0 where the text says something else. On InfiniBand SDR, DDR and QDR
// spend a fifth of their bits on the line code, FDR 2 of 66; all others, and Ethernet, are named by their data rate.
double data_rate_gbps(std::string_view rate, LinkLayer layer);
// What transactions of 256 bytes leave of a PCIe link, one way; 0: unknown.
double pcie_payload_gbps(double speed_gts, int width);

struct LinkRates {
  std::string link;      // "400 Gb/sec (4X NDR)", as the kernel says it; "": unknown
  double link_gbps = 0;  // data rate of the port, after line coding; 0: unknown
  std::string pcie;      // "32 GT/s x16"; "": unknown
  double pcie_gbps = 0;  // payload that the PCIe link carries one way; 0: unknown
  friend bool operator==(const LinkRates&, const LinkRates&) = default;
};
// By sysfs. A VF has the PCIe link of its PF.
LinkRates read_link(const os::FileTree& files, LinkLayer layer, const Port& port);

}  // namespace railbed::rdma
