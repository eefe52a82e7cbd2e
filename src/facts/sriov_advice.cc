// SPDX-License-Identifier: Apache-2.0
#include "facts/sriov_advice.h"

#include <algorithm>

namespace railbed::facts {
namespace {

bool is_virtual_nic(const Nic& nic) {
  // virtio, VMware, Xen, QEMU's own, Google, Amazon
  constexpr std::string_view kVirtual[] = {"1af4", "15ad", "5853", "1b36", "1ae0", "1d0f"};
  return std::ranges::find(kVirtual, nic.pci.vendor) != std::end(kVirtual);
}

bool is_vf_given_to_a_guest(const Nic& nic) {
  return nic.pci.model.find("Virtual Function") != std::string::npos || nic.pci.driver.ends_with("vf");
}

std::string example(const NodeFacts& facts, bool (*matches)(const Nic&)) {
  auto found = std::ranges::find_if(facts.nics, matches);
  return found == facts.nics.end() ? std::string() : found->pci.address.to_string();
}

}  // namespace

std::vector<std::string> sriov_advice(const NodeFacts& facts) {
  if (std::ranges::any_of(facts.nics, [](const Nic& nic) { return nic.total_vfs.value_or(0) > 0; })) return {};
  if (facts.nics.empty() && !facts.virtual_rdma.empty())
    return {
        "There are RDMA devices, but nothing tells which PCI functions they belong to, and so "
        "whether they can make VFs."};
  if (facts.nics.empty())
    return {"There is no network function on this machine's PCI bus, so nothing can make VFs.",
            "In a container, /sys of the host must be mounted; on a machine, look at `lspci -nn` for class 02xx."};
  std::vector<std::string> lines = {"No NIC here can make VFs: none has a sriov_totalvfs above 0."};
  if (std::string nic = example(facts, is_vf_given_to_a_guest); !nic.empty())
    lines.push_back(nic + " is itself a VF that was given to this machine; VFs are made where its PF is, on the host.");
  if (std::string nic = example(facts, is_virtual_nic); !nic.empty())
    lines.push_back(nic + " is a virtual machine's NIC; the host has to pass a PF or VFs through to this machine.");
  auto nvidia = [](const Nic& nic) { return nic.pci.vendor == "15b3"; };
  if (std::string nic = example(facts, nvidia); !nic.empty())
    lines.push_back("ConnectX and BlueField: firmware may have SR-IOV off: `mlxconfig -d " + nic +
                    " query SRIOV_EN NUM_OF_VFS`, then `set SRIOV_EN=1 NUM_OF_VFS=8` and a cold boot.");
  bool physical = std::ranges::any_of(
      facts.nics, [](const Nic& nic) { return !is_virtual_nic(nic) && !is_vf_given_to_a_guest(nic); });
  if (physical) {
    lines.emplace_back("BIOS: SR-IOV, and VT-d or AMD-Vi, enabled; some boards have a switch per slot.");
    lines.emplace_back("Kernel: built with CONFIG_PCI_IOV, and the NIC's driver bound (column DRIVER).");
  }
  lines.emplace_back("Networks of type macvlan, ipvlan and host-device work without SR-IOV.");
  return lines;
}

}  // namespace railbed::facts
