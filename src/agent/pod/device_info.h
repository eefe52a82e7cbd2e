// SPDX-License-Identifier: Apache-2.0
// Device-info files: a device plugin's description of a device, passed to plugins and to the pod's status.
//
// A device plugin writes devinfo/dp/<resource>-<device>-device.json; the attaching plugin copies it to
// devinfo/cni/<unique>, passes that path to plugins, and removes it with the pod. Without such a file, railbed provides
// what it knows.
// Threading: any thread.
// Failure: a file that does not exist or is not a JSON object counts as absent.
// Source: device information specification 1.1.0 of the network plumbing group.
#pragma once

#include <optional>
#include <string>

#include "attach/result.h"
#include "doc/value.h"
#include "kubelet/device_info.h"
#include "os/ports/disk.h"

namespace railbed::agent {

class DeviceInfo {
 public:
  // `disk` must outlive this.
  explicit DeviceInfo(os::Disk& disk, std::string directory = kubelet::kDeviceInfoDirectory)
      : disk_(disk), directory_(std::move(directory)) {}

  // The file in which plugins of this attachment find or write the information. Unique for (network, container,
  // interface).
  std::string path(const std::string& network, const std::string& container, const std::string& ifname) const;
  // Copies the device plugin's file to `path`; does nothing where there is none.
  Result<void> copy(const std::string& resource, const std::string& device, const std::string& path);
  // Its content: an object, or null.
  doc::Value read(const std::string& path) const;
  Result<void> remove(const std::string& path);

  // Information from attach, for devices that no device plugin described; null for virtual interfaces.
  static doc::Value of(const attach::InterfaceResult& made);

 private:
  os::Disk& disk_;
  std::string directory_;
};

// Parses a device-info object; null for any other text.
doc::Value read_device_info(const std::string& text);

}  // namespace railbed::agent
