// SPDX-License-Identifier: Apache-2.0
// What a container gets with its VFs: environment, device files, and a description for the component that attaches
// them.
//
// Names and formats are those of the SR-IOV network device plugin, which programs in pods rely on: PCIDEVICE_<RESOURCE>
// lists addresses, PCIDEVICE_<RESOURCE>_INFO lists the files of each.
// Threading: pure, except for the look-up that is passed in.
// Failure: NotFound for a VF that is not offered, Conflict for one that cannot be allocated now or is not in the state
// that its policy requires, the look-up's own; the kubelet shows the message in the pod's status. All or nothing.
#pragma once

#include <functional>

#include "doc/value.h"
#include "kubelet/devices.h"
#include "kubelet/vf_files.h"

namespace railbed::kubelet {

struct DeviceFile {
  std::string on_host;
  std::string in_container;
  friend bool operator==(const DeviceFile&, const DeviceFile&) = default;
};

struct Allocation {
  std::map<std::string, std::string> environment;
  std::vector<DeviceFile> files;                  // readable and writable, each once
  std::map<std::string, doc::Value> device_info;  // by id; null: nothing to say before the VF is attached
};

// Looks a VF up now; for a VF that gets a soft RDMA device later, with the file that this will have.
using LookUp = std::function<Result<VfFiles>(const Device&)>;

Result<Allocation> allocate(const std::string& name, const Resource& resource, const std::vector<std::string>& ids,
                            const LookUp& look_up);

// "PCIDEVICE_OPENSHIFT_IO_RAIL0" of "openshift.io/rail0".
std::string variable_of(const std::string& resource);

}  // namespace railbed::kubelet
