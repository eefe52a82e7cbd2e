// SPDX-License-Identifier: Apache-2.0
// Serves one resource to the kubelet: the DevicePlugin service, version v1beta1, on its own socket.
//
// Why one server per resource: the kubelet distinguishes the resources by the socket alone.
// Threading: start() and stop() belong to one thread, everything else is for any; gRPC's threads answer the kubelet.
// Failure: Io if the socket cannot be created; Invalid if its path is too long.
// Source: k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kubelet/allocation.h"
#include "kubelet/grpc/device_list.h"
#include "os/ports/disk.h"

namespace railbed::kubelet {

// What a kubelet's call needs of the plugin behind all servers.
class Allocations {
 public:
  virtual ~Allocations() = default;
  virtual Result<Allocation> allocate(const std::string& resource, const std::vector<std::string>& ids) = 0;
  virtual Resource resource(const std::string& name) = 0;  // as it is now; empty where it is gone
};

class ResourceServer {
 public:
  // All must outlive this. `changed` is called when the kubelet has begun or ended to follow the list.
  ResourceServer(std::string name, const std::string& directory, os::Disk& disk, Allocations& allocations,
                 std::function<void()> changed);
  ~ResourceServer();

  // A socket that a killed process left is replaced.
  Result<void> start();
  // Ends the kubelet's streams and then the server; returns when no call is under way any more.
  void stop();
  bool runs() const { return server_ != nullptr; }
  // Whether the kubelet could still connect: it removes the sockets of all plugins when it starts.
  bool can_be_reached() const;

  const std::string& name() const { return name_; }
  std::string endpoint() const;  // the socket's name in the directory
  DeviceList& list() { return list_; }

 private:
  class Service;

  std::string name_;
  std::string path_;
  os::Disk& disk_;
  DeviceList list_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<os::FileStamp> made_;  // the socket that we made
};

// As the kubelet wants it.
DeviceList::List list_of(const Resource& resource);
// The name of a resource's socket. Resource names may be longer than a socket's path.
std::string socket_name(const std::string& resource);

}  // namespace railbed::kubelet
