// SPDX-License-Identifier: Apache-2.0
// The device plugin: serves the node's offers to the kubelet, resource by resource, and survives kubelet restarts.
//
// Its own thread reconciles: it creates the servers of new resources and stops those of removed ones, registers each
// with the kubelet, and again when the kubelet has stopped following it. It wakes when a name in the kubelet's folder
// changes (a starting kubelet removes the sockets of all plugins and re-creates its own), when a stream ends, and when
// something is offered. A resource is registered only while the kubelet has no stream of it: a kubelet that notices the
// end of the old stream after the new registration would end the new one
// (kubernetes/pkg/kubelet/cm/devicemanager/plugin/v1beta1/handler.go, runClient).
//
// A change is sent to the open streams immediately. In addition, Allocate itself refuses what is not offered, so that a
// kubelet that has not read the update cannot allocate a withdrawn VF.
//
// Threading: any thread.
// Failure: as device_offers.h says; problems() reports what prevents serving the kubelet, and it is retried.
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
