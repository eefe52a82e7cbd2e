// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/offered_vfs.h"

#include <utility>

namespace railbed::agent {

Result<void> OfferedVfs::offer(kubelet::NodeDevices devices) {
  std::map<std::string, plan::PoolVf> vfs;
  std::map<std::string, uint64_t> counts;
  for (const auto& [resource, all] : devices.resources) {
    counts[resource] = all.size();
    for (const plan::PoolVf& vf : all) {
      plan::PoolVf& known = vfs.insert_or_assign(vf.address.to_string(), vf).first->second;
      known.held_by.clear();
    }
  }
  {
    const std::lock_guard lock(mutex_);
    vfs_ = std::move(vfs);
    counts_ = std::move(counts);
  }
  heard_(devices.facts);
  return plugin_.offer(std::move(devices));
}

std::map<std::string, uint64_t> OfferedVfs::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

Result<std::optional<plan::PoolVf>> OfferedVfs::find(const std::string& id, FirstLook look) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = vfs_.find(id); found != vfs_.end()) return std::optional(found->second);
  }
  if (look == FirstLook::kPending)
    return fail(Code::kBusy,
                "the agent has just started and does not know yet whether {} is a VF of this node's policies", id);
  return std::optional<plan::PoolVf>();
}

}  // namespace railbed::agent
