// SPDX-License-Identifier: Apache-2.0
// The device plugin: what the node offers, served to the kubelet, resource by resource, whatever the kubelet does.
//
// One thread of its own keeps it so: it makes the servers of resources that have come and ends those that have gone,
// registers each with the kubelet, and again when the kubelet has stopped following it. It wakes when a name in the
// kubelet's folder changes (a kubelet that starts removes all plugins' sockets and makes its own anew), when a stream
// ends, and when something is offered. A resource is registered only while the kubelet has no stream of it: a kubelet
// that learns of the old stream's end after the new registration would end the new one
// (kubernetes/pkg/kubelet/cm/devicemanager/plugin/v1beta1/handler.go, runClient).
//
// Where the kubelet is told and where it is refused: a change goes to the open streams at once; besides, Allocate
// itself refuses what is not offered, so that a kubelet that has not read the news cannot give away a withdrawn VF.
//
// Threading: any thread. Failure: as device_offers.h says; what keeps the kubelet from being served is told by
// problems(), and goes on being tried.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kubelet/device_info.h"
#include "kubelet/device_offers.h"
#include "kubelet/pod_resources.h"
#include "os/ports/directory_watch.h"
#include "os/ports/disk.h"

namespace railbed::kubelet {

struct DevicePluginSettings {
  std::string directory = "/var/lib/kubelet/device-plugins";  // with kubelet.sock, and our sockets beside it
  std::string checkpoint = kCheckpoint;
  std::string device_info = kDeviceInfoDirectory;
  std::chrono::milliseconds call{1000};       // for each call to the kubelet
  std::chrono::milliseconds notice{1000};     // for its streams to take a change
  std::chrono::milliseconds stream{500};      // for its stream, which it opens once it has taken a registration
  std::chrono::milliseconds admission{5000};  // between our answer to Allocate and the kubelet's own record of it
  std::chrono::milliseconds look{5000};       // what is not announced is found then
};

struct DevicePluginParts {
  os::Disk& disk;
  const os::FileTree& files;  // sysfs, and the kubelet's checkpoint
  PodResources& pod_resources;
};

class DevicePlugin : public DeviceOffers {
 public:
  // All parts must outlive it. `watch` announces what comes and goes in the directory: inotify where none is given.
  static Result<std::unique_ptr<DevicePlugin>> start(const DevicePluginParts& parts, DevicePluginSettings settings = {},
                                                     std::unique_ptr<os::DirectoryWatch> watch = nullptr);

  // An ADD has ended: soft RDMA devices that it made have their numbers now.
  virtual void devices_made() = 0;
  // What is wrong now, a line each: a resource that the kubelet has not taken, and why. Empty: all are served.
  virtual std::vector<std::string> problems() const = 0;
};

}  // namespace railbed::kubelet
