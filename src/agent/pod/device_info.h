// SPDX-License-Identifier: Apache-2.0
// Device-info files: what a device plugin says about a device, handed on to plugins and to the pod's status.
//
// A device plugin writes devinfo/dp/<resource>-<device>-device.json; who attaches copies it to
// devinfo/cni/<unique>, tells plugins that path, and takes it away with the pod. Where there is no such file
// we say what we know. Threading: any thread. Failure: a file that is not there or is no JSON object is none.
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
