// SPDX-License-Identifier: Apache-2.0
// Whether a pod may have the device that it names by `deviceID` in its annotation.
//
// Why: the annotation is the pod author's, and devices are the node's. Of a network with a resource the pod may only
// choose among what it was given of that resource (DeviceSource::devices()). Of a network without one it may not
// choose, unless the definition says so, and never what the host or a resource uses.
//
// Threading: a Turn's thread. Failure: Invalid with the reason why the pod may not have the device; the kernel's
// errors.
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
