// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/former_names.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace railbed::agent {
namespace {

constexpr size_t kMostPodsInLine = 5;

struct PresentVf {
  std::string name;  // of the resource that has it
  plan::PoolVf vf;
};

bool is_ending(const kubelet::NodeDevices& devices, const std::string& name, PciAddress vf) {
  const auto found = devices.ending.find(name);
  return found != devices.ending.end() && found->second.contains(vf);
}

// What is offered under its present name.
std::map<PciAddress, PresentVf> present_vfs(const kubelet::NodeDevices& devices) {
  std::map<PciAddress, PresentVf> out;
  for (const auto& [name, pool] : devices.resources)
    for (const plan::PoolVf& vf : pool)
      if (!is_ending(devices, name, vf.address)) out.try_emplace(vf.address, PresentVf{name, vf});
  return out;
}

std::string pods_with(const std::set<PciAddress>& vfs, const plan::InUse& pods) {
  std::set<std::string> names;
  for (const PciAddress& vf : vfs)
    if (const auto pod = pods.find(vf); pod != pods.end()) names.insert(pod->second);
  std::vector<std::string> some(names.begin(), names.end());
  if (some.empty()) return "pods that the kubelet does not name now";
  if (some.size() <= kMostPodsInLine) return fmt::format("{}", fmt::join(some, ", "));
  const size_t more = some.size() - kMostPodsInLine;
  some.resize(kMostPodsInLine);
  return fmt::format("{} and {} more", fmt::join(some, ", "), more);
}

}  // namespace

VfsByName renamed_vfs(const VfsByName& before, const kubelet::NodeDevices& devices) {
  const std::map<PciAddress, PresentVf> present = present_vfs(devices);
  VfsByName out;
  for (const auto& [name, vfs] : before)
    for (const PciAddress& vf : vfs)
      if (const auto now = present.find(vf); now != present.end() && now->second.name != name) out[name].insert(vf);
  return out;
}

VfsByName held_by_pods(const VfsByName& renamed, const kubelet::AllocatedVfs& allocated) {
  VfsByName out;
  for (const auto& [name, vfs] : renamed)
    for (const PciAddress& vf : vfs)
      if (const auto given = allocated.resources.find(vf);
          given != allocated.resources.end() && given->second.contains(name))
        out[name].insert(vf);
  return out;
}

void add_former_names(const VfsByName& held, const plan::InUse& pods, kubelet::NodeDevices& devices) {
  const std::map<PciAddress, PresentVf> present = present_vfs(devices);
  for (const auto& [name, vfs] : held)
    for (const PciAddress& address : vfs) {
      const auto now = present.find(address);
      if (now == present.end()) continue;
      const auto pod = pods.find(address);
      const std::string holder = pod != pods.end() ? pod->second : "perhaps a pod";
      devices.resources[name].push_back(now->second.vf);
      devices.ending[name].try_emplace(address, fmt::format("it is {} now", now->second.name));
      devices.taken.try_emplace(address, fmt::format("{} has it as {}", holder, name));
      // As far as the kubelet asks again: for the NUMA node of the pod.
      if (devices.without_topology.contains(now->second.name)) devices.without_topology.insert(name);
    }
}

VfsByName names_to_keep(const VfsByName& before, const VfsByName& held, const kubelet::NodeDevices& devices) {
  const std::map<PciAddress, PresentVf> present = present_vfs(devices);
  VfsByName out = held;
  for (const auto& [address, now] : present) out[now.name].insert(address);
  std::set<PciAddress> there;
  for (const facts::Nic& nic : devices.facts.nics)
    for (const facts::Vf& vf : nic.vfs) there.insert(vf.pci.address);
  for (const auto& [name, vfs] : before)
    for (const PciAddress& vf : vfs)
      if (there.contains(vf) && !present.contains(vf)) out[name].insert(vf);
  return out;
}

VfsByName names_with_prefix(std::string_view prefix, const kubelet::NodeDevices& devices) {
  VfsByName out;
  for (const auto& [address, now] : present_vfs(devices))
    out[fmt::format("{}{}", prefix, now.name.substr(std::min(now.name.find('/'), now.name.size())))].insert(address);
  return out;
}

std::vector<std::string> lines_about(const VfsByName& held, const plan::InUse& pods,
                                     const kubelet::NodeDevices& devices) {
  const std::map<PciAddress, PresentVf> present = present_vfs(devices);
  std::vector<std::string> out;
  for (const auto& [name, vfs] : held) {
    std::set<std::string> names;
    for (const PciAddress& vf : vfs)
      if (const auto now = present.find(vf); now != present.end()) names.insert(now->second.name);
    out.push_back(fmt::format("VFs of {} are offered as {} now; until their pods end, those of {} keep the former name",
                              name, fmt::join(names, ", "), pods_with(vfs, pods)));
  }
  return out;
}

}  // namespace railbed::agent
