// SPDX-License-Identifier: Apache-2.0
// A machine that applies steps, for tests: as strict as real ones (no VFs while the PF is down, no bind while autoprobe
// is off, no VF MTU above the PF's), and nothing else.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>

#include "base/format.h"
#include "facts/node_facts.h"
#include "plan/step.h"

namespace railbed::plan {

class SimulatedNic {
 public:
  explicit SimulatedNic(facts::Nic& nic) : nic_(nic) {}

  void operator()(const SetAutoprobe& step) { nic_.vfs_autoprobe = step.on; }
  void operator()(const SetPfUp& step) { nic_.netdevs.front().admin_up = step.up; }
  void operator()(const SetPfMtu& step) {
    require(nic_.netdevs.front().mtu == step.from, "MTU is not what the step says");
    nic_.netdevs.front().mtu = step.to;
  }
  void operator()(const SetEswitchMode& step) {
    require(nic_.vfs.empty(), "eswitch mode changes under VFs");
    nic_.eswitch_mode = step.mode;
  }
  void operator()(const SetVfCount& step) {
    require(nic_.num_vfs == step.from, "number of VFs is not what the step says");
    require(step.to == 0 || nic_.netdevs.empty() || nic_.netdevs.front().admin_up.value_or(false),
            "VFs of a PF that is down");
    require(step.to <= nic_.total_vfs.value_or(0), "more VFs than sriov_totalvfs");
    nic_.num_vfs = step.to;
    nic_.vfs.clear();
    for (int i = 0; i < step.to; ++i) {
      facts::Vf vf;
      vf.index = VfIndex{i};
      vf.pci.address = nic_.pci.address.plus(*nic_.vf_offset + static_cast<uint32_t>(i) * *nic_.vf_stride);
      vf.admin_mac = MacAddress{};
      if (nic_.link_type == facts::LinkType::kInfiniband) vf.node_guid = vf.port_guid = Guid{};
      nic_.vfs.push_back(vf);
      if (nic_.vfs_autoprobe.value_or(true)) give_kernel_driver(nic_.vfs.back());
    }
  }
  void operator()(const SetVfMac& step) { vf(step.vf).admin_mac = step.mac; }
  void operator()(const SetVfGuids& step) {
    vf(step.vf).node_guid = step.node_guid;
    vf(step.vf).port_guid = step.port_guid;
  }
  void operator()(const BindVf& step) {
    facts::Vf& it = vf(step.vf);
    require(it.pci.address == step.address, "address is not the VF's");
    require(it.pci.driver == step.from, "driver is not what the step says");
    it.pci.driver.clear();
    it.netdev.reset();
    if (step.device_type == DeviceType::kNetdevice) {
      require(nic_.vfs_autoprobe.value_or(true), "bind while autoprobe is off");
      give_kernel_driver(it);
    } else {
      it.pci.driver = driver_for(step.device_type);
    }
  }
  void operator()(const SetVfMtu& step) {
    facts::Vf& it = vf(step.vf);
    require(it.netdev.has_value(), "MTU of a VF without interface");
    require(nic_.netdevs.empty() || step.to <= nic_.netdevs.front().mtu, "VF MTU above the PF's");
    it.netdev->mtu = step.to;
  }
  void operator()(const NeedsReboot&) {}

 private:
  static void require(bool fine, const char* what) {
    if (!fine) throw std::logic_error(what);
  }
  facts::Vf& vf(VfIndex index) { return nic_.vfs.at(static_cast<size_t>(index.value)); }
  void give_kernel_driver(facts::Vf& it) {
    it.pci.driver = nic_.pci.driver == "igb" ? "igbvf" : nic_.pci.driver;
    facts::NetInterface netdev;
    netdev.name = fmt::format("{}v{}", nic_.netdevs.empty() ? "x" : nic_.netdevs.front().name, it.index);
    netdev.mtu = 1500;
    it.netdev = netdev;
  }
  facts::Nic& nic_;
};

// The facts after the first `steps` steps of the plan (by PF). Throws std::logic_error where a real machine would have
// refused the step.
inline facts::NodeFacts simulate(const NodePlan& plan, facts::NodeFacts facts, size_t steps = SIZE_MAX) {
  for (const PfPlan& pf : plan.pfs)
    for (facts::Nic& nic : facts.nics)
      if (nic.pci.address == pf.pf)
        for (const Step& step : pf.steps) {
          if (steps == 0) return facts;
          --steps;
          std::visit(SimulatedNic(nic), step.action);
        }
  return facts;
}

}  // namespace railbed::plan
