// SPDX-License-Identifier: Apache-2.0
// The devices of a pod's networks: selected, and described where plugins and the pod's status look for them.
//
// Why in one place: devices are selected twice in an ADD, before third-party plugins are executed and, in the Turn in
// which they are attached, for railbed's own; both must give the same result. The kubelet is queried before the Turns,
// once.
// Threading: a Turn's thread for choose(), any thread for the others.
// Failure: Exhausted if no source has the resource; Invalid if the pod names a device that it may not have
// (asked_device.h); the sources' own.
#pragma once

#include <string>
#include <vector>

#include "agent/pod/meta.h"
#include "agent/pod/meta_pod.h"

namespace railbed::agent {

class SandboxDevices {
 public:
  // All must outlive this.
  SandboxDevices(Meta& meta, const std::string& key, PodNetworks& pod);

  // Asks the sources what must be asked; does nothing where no network refers to a resource. Before choose(), and not
  // in a turn.
  void ask();
  // For every network that refers to a resource, and for those whose pod names a device. What the sandbox has already
  // counts as free for it: an ADD that is asked again gets the same.
  Result<void> choose(Engine::Turn& turn);
  // Copies what the device plugin says of each, and gives the networks' plugins the path.
  Result<void> describe();
  // Of the network's device: an object, or null.
  doc::Value info_of(const Delegate& network) const;

 private:
  Result<std::vector<Device>> devices_of(const std::string& resource, const std::vector<std::string>& asked,
                                         const plan::InUse& in_use);
  Result<std::vector<Device>> devices_from(size_t source, const DeviceRequest& request, const plan::InUse& in_use);

  std::string without_device(const std::string& resource) const;

  Meta& meta_;
  const std::string& key_;  // state::Sandbox::key()
  PodNetworks& pod_;
  std::vector<std::string> asked_;                    // by network: the device that the annotation names, or empty
  std::vector<Result<kubelet::GivenDevices>> given_;  // by source
};

}  // namespace railbed::agent
