// SPDX-License-Identifier: Apache-2.0
// Which devices the kubelet allocated to pods, from its checkpoint file.
//
// Why the file in addition to PodResources (pod_resources.h): it exists before the pod's sandbox is created, regardless
// of the kubelet's current state, and it alone has the devices of plain init containers. The kubelet writes it as a
// whole and renames it; devices of ended pods stay in it until the next write.
// Threading: pure.
// Failure: Invalid for a file that is not such a checkpoint.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"

namespace railbed::kubelet {

inline constexpr const char* kCheckpoint = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint";

// Devices by resource; those of all containers of a pod, each id once.
using GivenDevices = std::map<std::string, std::set<std::string>>;

// By the pod's uid.
Result<std::map<std::string, GivenDevices>> read_checkpoint(const std::string& text);

}  // namespace railbed::kubelet
