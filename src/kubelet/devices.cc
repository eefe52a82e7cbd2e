// SPDX-License-Identifier: Apache-2.0
#include "kubelet/devices.h"

#include <algorithm>

namespace railbed::kubelet {
namespace {

struct Place {
  const facts::Nic* pf = nullptr;
  const facts::Vf* vf = nullptr;
};

Place place_of(const facts::NodeFacts& facts, const plan::PoolVf& wanted) {
  for (const facts::Nic& nic : facts.nics) {
    if (nic.pci.address != wanted.pf) continue;
    for (const facts::Vf& vf : nic.vfs)
      if (vf.index == wanted.index && vf.pci.address == wanted.address) return {&nic, &vf};
    return {&nic, nullptr};
  }
  return {};
}

// Whether one of the PF's ports has a link. A PF of which nothing is visible here says nothing against its VFs.
bool has_link(const facts::Nic& pf) {
  bool any_port = false;
  for (const facts::NetInterface& netdev : pf.netdevs) {
    if (netdev.carrier.value_or(false)) return true;
    any_port = any_port || netdev.carrier.has_value();
  }
  for (const facts::RdmaDevice& rdma : pf.rdma)
    for (const facts::RdmaPort& port : rdma.ports) {
      if (port.state == "ACTIVE" || port.physical_state == "LinkUp") return true;
      any_port = any_port || !port.state.empty();
    }
  return !any_port;
}

std::string driver_problem(const plan::PoolVf& wanted, const facts::Vf& vf) {
  const bool for_user_space = is_user_space_driver(vf.pci.driver);
  if (vf.pci.driver.empty()) return "it has no driver";
  if ((wanted.device_type == DeviceType::kVfioPci) == for_user_space) return "";
  return fmt::format("its driver is {}, but its policy requires {}", vf.pci.driver,
                     plan::driver_words(wanted.device_type));
}

// An interface that is not here is in a pod, and in the exclusive mode its RDMA device is there, too.
bool is_in_a_pod(const plan::PoolVf& wanted, const facts::Vf& vf) {
  return !wanted.held_by.empty() || !vf.netdev.has_value();
}

constexpr std::string_view kDrained = "it is withdrawn until a change of this node is in place";

std::string problem_of(const NodeDevices& node, const std::set<PciAddress>& withdrawn, const plan::PoolVf& wanted) {
  if (withdrawn.contains(wanted.address)) return "it is about to be changed";
  if (const auto orphan = node.orphaned.find(wanted.address); orphan != node.orphaned.end())
    return fmt::format("it is orphaned ({}); `railbed status` names its pod", orphan->second);
  if (node.drained.contains(wanted.address)) return std::string(kDrained);
  if (node.unfinished.contains(wanted.address)) return "the steps that make it ready are not finished";
  const Place place = place_of(node.facts, wanted);
  if (place.vf == nullptr) return "it does not exist";
  if (std::string problem = driver_problem(wanted, *place.vf); !problem.empty()) return problem;
  if (!has_link(*place.pf)) return fmt::format("its PF {} has no link", wanted.pf_name);
  const bool wants_rdma = wanted.rdma && wanted.device_type == DeviceType::kNetdevice && !node.soft_rdma;
  if (wants_rdma && !place.vf->rdma.has_value() && !is_in_a_pod(wanted, *place.vf)) return "it has no RDMA device";
  return "";
}

// Why no further pod gets it under this name; empty where the name is its present one.
std::string ending_of(const NodeDevices& node, const std::string& name, PciAddress vf) {
  const auto found = node.ending.find(name);
  if (found == node.ending.end()) return "";
  const auto why = found->second.find(vf);
  return why != found->second.end() ? why->second : "";
}

}  // namespace

const Device* Resource::find(const std::string& id) const {
  auto found = std::ranges::find_if(devices, [&](const Device& one) { return one.id() == id; });
  return found == devices.end() ? nullptr : &*found;
}

Resources resources_of(const NodeDevices& node, const std::set<PciAddress>& withdrawn) {
  Resources resources;
  for (const auto& [name, vfs] : node.resources) {
    Resource& resource = resources[name];
    resource.vhost_net = node.with_vhost_net.contains(name);
    resource.mad = node.with_mad.contains(name);
    resource.soft_rdma = node.soft_rdma;
    for (const plan::PoolVf& vf : vfs) {
      if (vf.address == PciAddress{}) continue;  // an earlier step makes it: its address is unknown yet
      Device& device = resource.devices.emplace_back(Device{vf, problem_of(node, withdrawn, vf), std::nullopt});
      device.ending = ending_of(node, name, vf.address);
      if (const auto taken = node.taken.find(vf.address); taken != node.taken.end() && device.ending.empty())
        device.unhealthy = taken->second;
      if (device.ending.empty() && node.drained_of_pods.contains(vf.address)) device.ending = kDrained;
      if (!node.without_topology.contains(name)) device.numa_node = vf.numa_node;
    }
    std::ranges::sort(resource.devices, {}, [](const Device& one) { return std::pair(one.vf.pf, one.vf.index); });
  }
  return resources;
}

}  // namespace railbed::kubelet
