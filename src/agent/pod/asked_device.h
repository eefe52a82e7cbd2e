// SPDX-License-Identifier: Apache-2.0
// Whether a pod may have the device that it names by `deviceID` in its annotation.
//
// Why: the annotation belongs to the pod's author, devices belong to the node. For a network with a resource the pod
// may choose only among its allocated devices of that resource (DeviceSource::devices()). For a network without one it
// may not choose, unless the definition allows it, and never a device that the host or a resource uses.
//
// Threading: a Turn's thread.
// Failure: Invalid with the reason why the pod may not have the device; the kernel's errors.
#pragma once

#include <string>
#include <vector>

#include "agent/pod/meta_pod.h"
#include "agent/pod/sources.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

// For a network without a resource whose pod asks for `device`.
Result<void> check_asked_device(os::Kernel& kernel, const std::vector<DeviceSource*>& sources, const Delegate& network,
                                const std::string& device);

}  // namespace railbed::agent
