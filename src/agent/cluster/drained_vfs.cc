// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/drained_vfs.h"

#include <algorithm>

namespace railbed::agent {

std::set<PciAddress> vfs_of_resources(const std::vector<std::string>& resources, const kubelet::NodeDevices& devices) {
  std::set<PciAddress> out;
  for (const std::string& resource : resources)
    if (const auto found = devices.resources.find(resource); found != devices.resources.end())
      for (const plan::PoolVf& vf : found->second)
        if (vf.address != PciAddress{}) out.insert(vf.address);
  return out;
}

void add_drained(const std::set<PciAddress>& vfs, const Holders& holders, kubelet::NodeDevices& devices) {
  for (const PciAddress& vf : vfs) {
    const bool free =
        holders.known == HoldersKnown::kYes ? !holders.held.contains(vf) : holders.free_before.contains(vf);
    (free ? devices.drained : devices.drained_of_pods).insert(vf);
  }
}

std::vector<std::string> withdrawn_resources(const std::vector<std::string>& resources, HoldersKnown known,
                                             const kubelet::NodeDevices& devices) {
  if (known == HoldersKnown::kYes) return resources;
  std::vector<std::string> out;
  for (const std::string& resource : resources)
    if (std::ranges::includes(devices.drained, vfs_of_resources({resource}, devices))) out.push_back(resource);
  return out;
}

}  // namespace railbed::agent
