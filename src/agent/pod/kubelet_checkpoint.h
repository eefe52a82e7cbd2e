// SPDX-License-Identifier: Apache-2.0
// Which devices kubelet gave to a pod, from its checkpoint file.
//
// Why the file: it is there before the pod's sandbox is made, costs no connection, and is what Multus falls
// back to. Kubelet writes it whole and renames it. Threading: any thread. Failure: NotFound where kubelet
// gave this pod nothing of the resource; Exhausted where it gave less than the networks ask for; Invalid for
// a file that is no such checkpoint.
#pragma once

#include "agent/pod/sources.h"
#include "os/ports/file_tree.h"

namespace railbed::agent {

inline constexpr const char* kKubeletCheckpoint = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint";

// (pod uid, resource) → device ids, sorted.
using DeviceIds = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;
Result<DeviceIds> read_kubelet_checkpoint(const std::string& text);

class KubeletDevices : public DeviceSource {
 public:
  // `files` must outlive this.
  explicit KubeletDevices(const os::FileTree& files, std::string path = kKubeletCheckpoint)
      : files_(files), path_(std::move(path)) {}
  Result<std::vector<Device>> devices(const PodInfo& pod, const std::string& resource, size_t count,
                                      const plan::InUse& in_use) override;

 private:
  const os::FileTree& files_;
  std::string path_;
};

}  // namespace railbed::agent
