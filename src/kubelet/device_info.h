// SPDX-License-Identifier: Apache-2.0
// Device-info files: a device plugin's description of a device, for plugins that attach it and for the pod's status.
//
// Why here: the device plugin writes them, and the agent's meta plugin reads those of any device plugin; both need the
// same names.
// Threading: pure.
// Failure: none.
// Source: device information specification 1.1.0 of the network plumbing group.
#pragma once

#include <string>

#include "base/types.h"
#include "doc/value.h"

namespace railbed::kubelet {

inline constexpr const char* kDeviceInfoDirectory = "/var/run/k8s.cni.cncf.io/devinfo";

// As one component of a path: names come from pods and from device plugins.
std::string file_name_of(std::string name);
// Below `directory`, of a device of the resource.
std::string device_info_path(const std::string& directory, const std::string& resource, const std::string& device);
// An empty name of the RDMA device: it has none.
doc::Value pci_device_info(PciAddress device, const std::string& rdma);

}  // namespace railbed::kubelet
