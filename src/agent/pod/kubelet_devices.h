// SPDX-License-Identifier: Apache-2.0
// The devices that the kubelet allocated to a pod, for its networks.
//
// The kubelet allocates per container and does not know networks: the pod's devices are those of all its containers
// together, and each network that refers to a resource gets the next of them, sorted.
// Threading: any thread.
// Failure: NotFound if the kubelet allocated nothing of the resource to this pod; Exhausted if it allocated fewer than
// the networks request; Timeout and Io if no source can be queried.
#pragma once

#include <functional>
#include <utility>

#include "agent/pod/sources.h"
#include "kubelet/pod_resources.h"

namespace railbed::agent {

class KubeletDevices : public DeviceSource {
 public:
  // All must outlive this. Without a `service` only the checkpoint is read.
  explicit KubeletDevices(const os::FileTree& files, kubelet::PodResources* service = nullptr)
      : devices_(files, service) {}
  // What is known of a VF beyond its address, by that: the kubelet knows no policies. Busy where it is not known yet
  // what this node offers. To be set before the first request.
  using Known = std::function<Result<std::optional<plan::PoolVf>>(const std::string& id)>;
  void known_by(Known known) { known_ = std::move(known); }
  Result<kubelet::GivenDevices> given_to(const PodInfo& pod) override;
  Result<std::vector<Device>> devices(const DeviceRequest& request, const kubelet::GivenDevices& given,
                                      const plan::InUse& in_use) override;
  Result<bool> offers(const PciAddress& device) override;

 private:
  kubelet::PodDevices devices_;
  Known known_;
};

}  // namespace railbed::agent
