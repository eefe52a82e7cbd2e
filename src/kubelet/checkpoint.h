// SPDX-License-Identifier: Apache-2.0
// Which devices the kubelet gave to pods, from its checkpoint file.
//
// Why the file beside PodResources (pod_resources.h): it is there before the pod's sandbox is made, whatever the
// kubelet does at the moment, and it alone has what plain init containers got. The kubelet writes it whole and renames
// it; what ended pods had stays in it until it is written the next time. Threading: pure. Failure: Invalid for a file
// that is no such checkpoint.
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
