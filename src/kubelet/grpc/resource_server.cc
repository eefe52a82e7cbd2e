// SPDX-License-Identifier: Apache-2.0
#include "kubelet/grpc/resource_server.h"

#include <sys/un.h>

#include "base/fnv1a.h"
#include "kubelet/device_info.h"
#include "kubelet/grpc/status.h"
#include "kubelet/preferred.h"

namespace railbed::kubelet {
namespace {

constexpr std::chrono::milliseconds kShutdown{100};  // calls that are under way then are cut off
constexpr size_t kNameInSocket = 24;

std::vector<std::string> texts(const google::protobuf::RepeatedPtrField<std::string>& list) {
  return {list.begin(), list.end()};
}

void put(const Allocation& allocation, v1beta1::ContainerAllocateResponse& answer) {
  for (const auto& [name, value] : allocation.environment) (*answer.mutable_envs())[name] = value;
  for (const DeviceFile& file : allocation.files) {
    v1beta1::DeviceSpec& device = *answer.add_devices();
    device.set_host_path(file.on_host);
    device.set_container_path(file.in_container);
    device.set_permissions("rw");
  }
}

}  // namespace

class ResourceServer::Service : public v1beta1::DevicePlugin::CallbackService {
 public:
  Service(const std::string& name, DeviceList& list, Allocations& allocations)
      : name_(name), list_(list), allocations_(allocations) {}

  grpc::ServerUnaryReactor* GetDevicePluginOptions(grpc::CallbackServerContext* context, const v1beta1::Empty*,
                                                   v1beta1::DevicePluginOptions* answer) override {
    answer->set_get_preferred_allocation_available(true);
    return done(context, grpc::Status::OK);
  }

  grpc::ServerWriteReactor<DeviceList::List>* ListAndWatch(grpc::CallbackServerContext*,
                                                           const v1beta1::Empty*) override {
    return list_.follow();
  }

  grpc::ServerUnaryReactor* GetPreferredAllocation(grpc::CallbackServerContext* context,
                                                   const v1beta1::PreferredAllocationRequest* request,
                                                   v1beta1::PreferredAllocationResponse* answer) override {
    const Resource resource = allocations_.resource(name_);
    for (const v1beta1::ContainerPreferredAllocationRequest& one : request->container_requests()) {
      v1beta1::ContainerPreferredAllocationResponse& chosen = *answer->add_container_responses();
      for (const std::string& id :
           preferred(resource, {.available = texts(one.available_deviceids()),
                                .must_include = texts(one.must_include_deviceids()),
                                .size = static_cast<size_t>(std::max(0, one.allocation_size()))}))
        chosen.add_deviceids(id);
    }
    return done(context, grpc::Status::OK);
  }

  grpc::ServerUnaryReactor* Allocate(grpc::CallbackServerContext* context, const v1beta1::AllocateRequest* request,
                                     v1beta1::AllocateResponse* answer) override {
    for (const v1beta1::ContainerAllocateRequest& one : request->container_requests()) {
      const Result<Allocation> allocation = allocations_.allocate(name_, texts(one.devices_ids()));
      if (!allocation.has_value()) return done(context, status_of(allocation.error()));
      put(*allocation, *answer->add_container_responses());
    }
    return done(context, grpc::Status::OK);
  }

  // Not asked for, so the kubelet does not call it.
  grpc::ServerUnaryReactor* PreStartContainer(grpc::CallbackServerContext* context,
                                              const v1beta1::PreStartContainerRequest*,
                                              v1beta1::PreStartContainerResponse*) override {
    return done(context, grpc::Status::OK);
  }

 private:
  static grpc::ServerUnaryReactor* done(grpc::CallbackServerContext* context, const grpc::Status& status) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }

  const std::string& name_;
  DeviceList& list_;
  Allocations& allocations_;
};

ResourceServer::ResourceServer(std::string name, const std::string& directory, os::Disk& disk, Allocations& allocations,
                               std::function<void()> changed)
    : name_(std::move(name)),
      path_(directory + "/" + socket_name(name_)),
      disk_(disk),
      list_(std::move(changed)),
      service_(std::make_unique<Service>(name_, list_, allocations)) {}

ResourceServer::~ResourceServer() {
  stop();
}

Result<void> ResourceServer::start() {
  if (path_.size() >= sizeof(sockaddr_un{}.sun_path))
    return fail(Code::kInvalid, "the path of socket {} is longer than {} bytes", path_,
                sizeof(sockaddr_un{}.sun_path) - 1);
  TRY(disk_.remove(path_));
  list_.reopen();
  grpc::ServerBuilder builder;
  int bound = 0;
  builder.AddListeningPort("unix:" + path_, grpc::InsecureServerCredentials(), &bound);
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || bound == 0) {
    server_.reset();
    return fail(Code::kIo, "socket {} of resource {} cannot be served", path_, name_);
  }
  made_ = TRY(disk_.stamp(path_));
  return {};
}

void ResourceServer::stop() {
  if (server_ == nullptr) return;
  list_.end_streams();
  server_->Shutdown(std::chrono::system_clock::now() + kShutdown);
  list_.wait_for_end();
  server_.reset();
  made_.reset();
}

bool ResourceServer::can_be_reached() const {
  if (server_ == nullptr || !made_.has_value()) return false;
  const Result<os::FileStamp> now = disk_.stamp(path_);
  return now.has_value() && *now == *made_;
}

std::string ResourceServer::endpoint() const {
  return socket_name(name_);
}

DeviceList::List list_of(const Resource& resource) {
  DeviceList::List list;
  for (const Device& device : resource.devices) {
    v1beta1::Device& one = *list.add_devices();
    one.set_id(device.id());
    one.set_health(device.unhealthy.empty() ? "Healthy" : "Unhealthy");
    if (device.numa_node.has_value()) one.mutable_topology()->add_nodes()->set_id(*device.numa_node);
  }
  return list;
}

// The end of the resource's name for people, and a hash of all of it, because names may differ elsewhere.
std::string socket_name(const std::string& resource) {
  std::string tail = resource.substr(resource.rfind('/') + 1).substr(0, kNameInSocket);
  for (char& c : tail)
    if ((c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')) c = '-';
  return fmt::format("railbed-{}-{:016x}.sock", tail, fnv1a(resource));
}

}  // namespace railbed::kubelet
