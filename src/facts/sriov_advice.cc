// SPDX-License-Identifier: Apache-2.0
#include "facts/sriov_advice.h"

#include <algorithm>

#include "base/command.h"
#include "facts/vf_ids.h"

namespace railbed::facts {
namespace {

bool is_virtual_nic(const Nic& nic) {
  // virtio, VMware, Xen, QEMU's own, Google, Amazon
  constexpr std::string_view kVirtual[] = {"1af4", "15ad", "5853", "1b36", "1ae0", "1d0f"};
  return std::ranges::find(kVirtual, nic.pci.vendor) != std::end(kVirtual);
}

bool is_vf(const Nic& nic) {
  return is_vf_function(nic.pci);
}

// Whether a card of the same maker is on the VF's bus, so that the VF was made here, though nothing links the two.
bool has_pf_here(const NodeFacts& facts, const Nic& vf) {
  return std::ranges::any_of(facts.nics, [&](const Nic& nic) {
    return !is_vf(nic) && nic.pci.vendor == vf.pci.vendor && nic.pci.address.domain == vf.pci.address.domain &&
           nic.pci.address.bus == vf.pci.address.bus;
  });
}

std::string example(const NodeFacts& facts, bool (*matches)(const Nic&)) {
  auto found = std::ranges::find_if(facts.nics, matches);
  return found == facts.nics.end() ? std::string() : found->pci.address.to_string();
}

}  // namespace

std::vector<std::string> sriov_advice(const NodeFacts& facts) {
  if (std::ranges::any_of(facts.nics, [](const Nic& nic) { return nic.total_vfs.value_or(0) > 0; })) return {};
  if (facts.nics.empty() && !facts.virtual_rdma.empty())
    return {"RDMA devices found, but their PCI functions are unknown, and therefore whether they can make VFs."};
  const bool is_unread = std::ranges::any_of(
      facts.problems, [](const std::string& problem) { return problem.find("sriov_totalvfs") != std::string::npos; });
  if (is_unread) return {"It is unknown whether a NIC can make VFs: sriov_totalvfs could not be read."};
  if (facts.nics.empty() && std::ranges::find(facts.unavailable, kPciFunctions) != facts.unavailable.end())
    return {
        "It is unknown whether a NIC can make VFs: the directory of PCI functions (/sys/bus/pci/devices) does not "
        "exist."};
  if (facts.nics.empty())
    return {"There is no network function on this machine's PCI bus, so nothing can make VFs.",
            "In a container, /sys of the host must be mounted; on a machine, look at `lspci -nn` for class 02xx."};
  std::vector<std::string> lines = {"No NIC here can make VFs: none has a sriov_totalvfs above 0."};
  if (const auto vf = std::ranges::find_if(facts.nics, is_vf); vf != facts.nics.end())
    lines.push_back(
        vf->pci.address.to_string() +
        (has_pf_here(facts, *vf)
             ? " is itself a VF, of a PF on the same bus; the files at hand do not link the two."
             : " is itself a VF that was given to this machine; VFs are made where its PF is, on the host."));
  if (std::string nic = example(facts, is_virtual_nic); !nic.empty())
    lines.push_back(nic + " is a virtual machine's NIC; the host has to pass a PF or VFs through to this machine.");
  auto nvidia = [](const Nic& nic) { return nic.pci.vendor == "15b3" && !is_vf(nic); };
  if (std::string nic = example(facts, nvidia); !nic.empty())
    lines.push_back(fmt::format(
        "ConnectX and BlueField: firmware may have SR-IOV off: `{}`, then `set SRIOV_EN=1 NUM_OF_VFS=8` and a cold boot.",
        Command{"mlxconfig", "-d"}.value(nic).words({"query", "SRIOV_EN", "NUM_OF_VFS"})));
  bool physical = std::ranges::any_of(facts.nics, [](const Nic& nic) { return !is_virtual_nic(nic) && !is_vf(nic); });
  if (physical) {
    lines.emplace_back("BIOS: SR-IOV, and VT-d or AMD-Vi, enabled; some boards have a switch per slot.");
    lines.emplace_back("Kernel: built with CONFIG_PCI_IOV, and the NIC's driver bound (column DRIVER of -o wide).");
  }
  lines.emplace_back("Networks of type macvlan, ipvlan and host-device work without SR-IOV.");
  return lines;
}

}  // namespace railbed::facts
