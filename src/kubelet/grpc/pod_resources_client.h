// SPDX-License-Identifier: Apache-2.0
// A client of the kubelet's PodResources service, v1, over its socket; one connection per call.
//
// Threading: any thread.
// Failure: NotFound if there is no such socket or the kubelet knows no such pod; Unsupported for Get of a kubelet
// before 1.34; Timeout; Io if nothing answers.
#pragma once

#include "kubelet/pod_resources.h"

namespace railbed::kubelet {

class PodResourcesClient : public PodResources {
 public:
  explicit PodResourcesClient(std::string socket = kPodResourcesSocket);
  Result<GivenDevices> get(const PodRef& pod, os::Deadline deadline) override;
  Result<std::map<std::string, GivenDevices>> list(os::Deadline deadline) override;

 private:
  std::string socket_;
};

}  // namespace railbed::kubelet
