// SPDX-License-Identifier: Apache-2.0
// The last offers to the kubelet, for the ADDs of the pods that get the devices.
//
// Why: the kubelet allocates PCI addresses to a pod, and an ADD must know the policy of each: without it a VF would
// lack the RDMA device that the pod needs. Every offer passes here on its way to the device plugin.
// Threading: any.
// Failure: Busy before the first scan of the node has ended, while its offers are unknown.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "kubelet/device_offers.h"

namespace railbed::agent {

enum class FirstLook : uint8_t { kPending, kEnded };

class OfferedVfs : public kubelet::DeviceOffers {
 public:
  using Heard = std::function<void(const facts::NodeFacts&)>;
  // The plugin outlives it. `heard` gets the facts of each offer.
  OfferedVfs(kubelet::DeviceOffers& plugin, Heard heard) : plugin_(plugin), heard_(std::move(heard)) {}

  Result<void> offer(kubelet::NodeDevices devices) override;
  Result<void> withdraw(const std::set<PciAddress>& vfs) override { return plugin_.withdraw(vfs); }
  Result<kubelet::AllocatedVfs> allocated() override { return plugin_.allocated(); }

  // A VF that is on offer, by its address.
  Result<std::optional<plan::PoolVf>> find(const std::string& id, FirstLook look) const;
  // How many there are of each resource, held by pods or free.
  std::map<std::string, uint64_t> counts() const;

 private:
  kubelet::DeviceOffers& plugin_;
  const Heard heard_;
  mutable std::mutex mutex_;
  std::map<std::string, plan::PoolVf> vfs_;
  std::map<std::string, uint64_t> counts_;  // by resource
};

}  // namespace railbed::agent
