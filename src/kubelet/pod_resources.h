// SPDX-License-Identifier: Apache-2.0
// Which devices each pod has, according to the kubelet: its PodResources service, plus its checkpoint.
//
// Why both: Get (Kubernetes 1.34 and later) queries one pod, List before that all of them; neither reports the devices
// of a plain init container, and neither answers while the kubelet is down or hangs. Their union is what the pod holds:
// the kubelet writes the checkpoint when it allocates a device, before it creates the pod's sandbox. A device that
// several containers of a pod have is one device.
// Threading: any thread; the calls wait, until their deadline.
// Failure: NotFound if no source knows the pod; Timeout and Io if no source answers.
// Source: kubernetes/pkg/kubelet/apis/podresources/server_v1.go.
#pragma once

#include <functional>

#include "kubelet/allocated_vfs.h"
#include "kubelet/checkpoint.h"
#include "os/ports/clock.h"
#include "os/ports/file_tree.h"

namespace railbed::kubelet {

inline constexpr const char* kPodResourcesSocket = "/var/lib/kubelet/pod-resources/kubelet.sock";

struct PodRef {
  std::string ns;
  std::string name;
  std::string uid;  // may be empty: then the checkpoint says nothing
  std::string key() const { return ns + "/" + name; }
};

// The service, which grpc/pod_resources_client.h asks.
class PodResources {
 public:
  virtual ~PodResources() = default;
  // Unsupported where the kubelet has no Get.
  virtual Result<GivenDevices> get(const PodRef& pod, os::Deadline deadline) = 0;
  // By "namespace/name".
  virtual Result<std::map<std::string, GivenDevices>> list(os::Deadline deadline) = 0;
};

class PodDevices {
 public:
  // All must outlive this. `service` may be null: the checkpoint alone is read.
  PodDevices(const os::FileTree& files, PodResources* service, std::string checkpoint = kCheckpoint)
      : files_(files), service_(service), checkpoint_(std::move(checkpoint)) {}

  // What one pod has. Empty: nothing.
  Result<GivenDevices> of(const PodRef& pod, os::Deadline deadline);
  // The VFs of all pods that have not ended. Others than PCI devices are left out. `refresh` is called once
  // the kubelet has listed its pods, and is to make it write its checkpoint again: in the one that is there, pods that
  // have ended may still stand.
  Result<AllocatedVfs> all(os::Deadline deadline, const std::function<void()>& refresh);

 private:
  Result<GivenDevices> ask(const PodRef& pod, os::Deadline deadline);

  const os::FileTree& files_;
  PodResources* service_;
  std::string checkpoint_;
};

}  // namespace railbed::kubelet
