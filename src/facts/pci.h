// SPDX-License-Identifier: Apache-2.0
// The relevant PCI functions of a machine: network functions and accelerators, with their path.
//
// Why: /sys/bus/pci/devices has hundreds of functions; one read of `uevent` per function returns class, ids and driver,
// and only for those of interest the rest is read. The class alone does not identify network functions (ConnectX-3 is
// 0280, qib 0c06, a BlueField-3 has a port-less function of class 0801): a function counts if it has a network
// interface or an RDMA device below it.
// Threading: as the file tree.
// Failure: absent facts, with lines in the problems of `attributes`.
// Sources: Documentation/ABI/testing/sysfs-bus-pci; drivers/pci/pci-driver.c (uevent).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "facts/attributes.h"
#include "facts/detail.h"
#include "facts/node_facts.h"

namespace railbed::facts {

enum class PciKind : uint8_t { kOther, kNetwork, kAccelerator };

// By class and ids alone. The screens of management chips and virtual machines are no accelerators, nor are
// coprocessors that compress or encrypt (class 0b40) and FPGAs: they would shift the numbers of the GPUs.
PciKind pci_kind(std::string_view class_code, std::string_view vendor, std::string_view device);

// The second function of a ConnectX-8 that has Data Direct: it sits at a GPU's PCIe switch and carries the NIC's
// traffic with that GPU, while the network function hangs off the CPU.
bool is_data_direct(const PciDevice& device);

// 16 of "16.0 GT/s PCIe", and of "16 GT/s", as older kernels spell it; 0 of "Unknown".
double pcie_speed_gts(const std::string& text);

// How a PF's VFs are enumerated.
struct SriovState {
  std::optional<int> total_vfs;
  int num_vfs = 0;
  std::optional<bool> autoprobe;
  std::optional<uint32_t> vf_offset;
  std::optional<uint32_t> vf_stride;
  std::string vf_device;
  std::map<int, PciAddress> vfs;  // by index, from the virtfn links
};

struct PciScan {
  std::vector<PciDevice> network;                  // by address; VFs included
  std::vector<PciDevice> accelerators;             // by address; their VFs left out
  std::map<PciAddress, SriovState> sriov;          // of the network functions that have sriov_totalvfs
  std::unordered_map<PciAddress, PciAddress> vfs;  // all VFs of these, and the PF of each
  std::vector<PciDevice> data_direct;              // by address
  std::vector<PciSwitch> switches;                 // by address: those above the other two; read with Detail::kAll
  std::set<PciAddress> orphans;                    // say that they are a VF of a PF that does not list them
};

// `with_children` are functions known to carry a network interface or an RDMA device.
PciScan scan_pci(Attributes& attributes, const std::set<PciAddress>& with_children, Detail detail);

}  // namespace railbed::facts
