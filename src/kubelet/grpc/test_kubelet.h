// SPDX-License-Identifier: Apache-2.0
// For tests: a kubelet's device manager and PodResources over real unix sockets in a folder, with the behaviour of the
// real one (kubernetes/pkg/kubelet/cm/devicemanager): at its start it removes all plugin sockets; it dials each plugin
// that registers and then follows the list; when a stream ends it disconnects the plugin that is currently registered
// under that name.
//
// Threading: a test's thread; gRPC's threads call it.
// Failure: none.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <deviceplugin/v1beta1/api.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <podresources/v1/api.grpc.pb.h>

namespace railbed::kubelet {

// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "railbed-kubelet-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class TestKubelet : public v1beta1::Registration::Service, public v1::PodResourcesLister::Service {
 public:
  using Health = std::map<std::string, std::string>;  // by id

  explicit TestKubelet(std::string folder) : folder_(std::move(folder)) { start(); }
  ~TestKubelet() override { kill(); }

  enum class PluginSockets : uint8_t { kRemoved, kKept };
  void start(PluginSockets sockets = PluginSockets::kRemoved) {
    std::filesystem::remove(folder_ + "/kubelet.sock");
    if (sockets == PluginSockets::kRemoved)
      for (const auto& file : std::filesystem::directory_iterator(folder_))
        if (file.is_socket()) std::filesystem::remove(file.path());
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + folder_ + "/kubelet.sock", grpc::InsecureServerCredentials());
    builder.RegisterService(static_cast<v1beta1::Registration::Service*>(this));
    builder.RegisterService(static_cast<v1::PodResourcesLister::Service*>(this));
    ending_ = false;
    server_ = builder.BuildAndStart();
  }
  // As with SIGKILL: connections end, the socket's file stays where it is.
  void kill() {
    if (server_ == nullptr) return;
    const std::string socket = folder_ + "/kubelet.sock";
    std::filesystem::rename(socket, socket + ".kept");
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;  // who registers now would be followed forever
      for (const auto& plugin : all_) plugin->context.TryCancel();
    }
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
    std::vector<std::jthread> followers;
    {
      const std::scoped_lock lock(mutex_);
      followers.swap(followers_);
    }
    followers.clear();
    {
      const std::scoped_lock lock(mutex_);
      plugins_.clear();
      lists_.clear();
      all_.clear();
    }
    std::filesystem::rename(socket + ".kept", socket);
  }

  // Waits until the kubelet's list of the resource is this.
  bool has(const std::string& resource, const Health& wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      auto found = lists_.find(resource);
      return found != lists_.end() && health(found->second) == wanted;
    });
  }
  // Waits until no server is left.
  bool lost(const std::string& resource) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return !plugins_.contains(resource); });
  }
  Health list(const std::string& resource) {
    const std::scoped_lock lock(mutex_);
    return health(lists_[resource]);
  }
  v1beta1::ListAndWatchResponse devices(const std::string& resource) {
    const std::scoped_lock lock(mutex_);
    return lists_[resource];
  }
  int lists_taken(const std::string& resource) {
    const std::scoped_lock lock(mutex_);
    return taken_[resource];
  }
  // Waits until it has taken one more list than so many.
  bool takes_another(const std::string& resource, int taken) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return taken_[resource] > taken; });
  }
  // Waits until the resource was registered so often.
  bool was_registered(const std::string& resource, int times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return registrations_[resource] >= times; });
  }
  std::map<std::string, int> registrations() {
    const std::scoped_lock lock(mutex_);
    return registrations_;
  }

  grpc::Status allocate(const std::string& resource, const std::vector<std::string>& ids,
                        v1beta1::AllocateResponse& answer) {
    v1beta1::AllocateRequest request;
    auto& container = *request.add_container_requests();
    for (const std::string& id : ids) container.add_devices_ids(id);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    return stub_of(resource)->Allocate(&context, request, &answer);
  }
  std::vector<std::string> preferred(const std::string& resource, const std::vector<std::string>& available, int size) {
    v1beta1::PreferredAllocationRequest request;
    auto& container = *request.add_container_requests();
    for (const std::string& id : available) container.add_available_deviceids(id);
    container.set_allocation_size(size);
    v1beta1::PreferredAllocationResponse answer;
    grpc::ClientContext context;
    if (!stub_of(resource)->GetPreferredAllocation(&context, request, &answer).ok()) return {"failed"};
    const auto& ids = answer.container_responses(0).deviceids();
    return {ids.begin(), ids.end()};
  }

  // What PodResources answers.
  v1::ListPodResourcesResponse pods;
  bool has_get = true;
  std::atomic<int> gets = 0;
  std::atomic<int> lists = 0;
  void add_pod(const std::string& ns, const std::string& name, const std::string& container,
               const std::string& resource, const std::string& id) {
    v1::PodResources* pod = nullptr;
    for (auto& one : *pods.mutable_pod_resources())
      if (one.name() == name && one.namespace_() == ns) pod = &one;
    if (pod == nullptr) pod = pods.add_pod_resources();
    pod->set_name(name);
    pod->set_namespace_(ns);
    auto& in = *pod->add_containers();
    in.set_name(container);
    auto& devices = *in.add_devices();
    devices.set_resource_name(resource);
    devices.add_device_ids(id);
  }
  grpc::Status refuse_registration;  // what Register answers
  bool only_registers = false;       // and opens no stream: the test does

 private:
  struct Plugin {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<v1beta1::DevicePlugin::Stub> stub;
    grpc::ClientContext context;  // of ListAndWatch
  };

  static Health health(const v1beta1::ListAndWatchResponse& list) {
    Health all;
    for (const v1beta1::Device& device : list.devices()) all[device.id()] = device.health();
    return all;
  }
  v1beta1::DevicePlugin::Stub* stub_of(const std::string& resource) {
    const std::scoped_lock lock(mutex_);
    return plugins_.at(resource)->stub.get();
  }

  grpc::Status Register(grpc::ServerContext*, const v1beta1::RegisterRequest* request, v1beta1::Empty*) override {
    if (!refuse_registration.ok()) return refuse_registration;
    auto plugin = std::make_shared<Plugin>();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    plugin->channel = grpc::CreateCustomChannel("unix:" + folder_ + "/" + request->endpoint(),
                                                grpc::InsecureChannelCredentials(), arguments);
    plugin->stub = v1beta1::DevicePlugin::NewStub(plugin->channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    v1beta1::DevicePluginOptions options;
    const grpc::Status status = plugin->stub->GetDevicePluginOptions(&context, {}, &options);
    if (!status.ok()) return status;
    const std::scoped_lock lock(mutex_);
    if (ending_) return {grpc::UNAVAILABLE, "the kubelet ends"};
    ++registrations_[request->resource_name()];
    changed_.notify_all();
    if (only_registers) return grpc::Status::OK;
    plugins_[request->resource_name()] = plugin;
    all_.push_back(plugin);
    followers_.emplace_back([this, name = request->resource_name(), plugin] { follow(name, plugin); });
    return grpc::Status::OK;
  }

  void follow(const std::string& name, const std::shared_ptr<Plugin>& plugin) {
    auto stream = plugin->stub->ListAndWatch(&plugin->context, {});
    v1beta1::ListAndWatchResponse list;
    while (stream->Read(&list)) {
      const std::scoped_lock lock(mutex_);
      lists_[name] = list;
      ++taken_[name];
      changed_.notify_all();
    }
    (void)stream->Finish();
    const std::scoped_lock lock(mutex_);
    if (auto now = plugins_.find(name); now != plugins_.end()) {
      now->second->context.TryCancel();  // whichever plugin is registered now: the kubelet's own defect
      plugins_.erase(now);
    }
    changed_.notify_all();
  }

  grpc::Status List(grpc::ServerContext*, const v1::ListPodResourcesRequest*,
                    v1::ListPodResourcesResponse* answer) override {
    ++lists;
    *answer = pods;
    return grpc::Status::OK;
  }
  grpc::Status Get(grpc::ServerContext*, const v1::GetPodResourcesRequest* request,
                   v1::GetPodResourcesResponse* answer) override {
    ++gets;
    if (!has_get) return {grpc::UNIMPLEMENTED, "unknown method Get"};
    for (const v1::PodResources& pod : pods.pod_resources())
      if (pod.name() == request->pod_name() && pod.namespace_() == request->pod_namespace()) {
        *answer->mutable_pod_resources() = pod;
        return grpc::Status::OK;
      }
    return {grpc::UNKNOWN, "pod not found"};
  }

  std::string folder_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::atomic<bool> ending_ = false;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Plugin>> plugins_;
  std::map<std::string, v1beta1::ListAndWatchResponse> lists_;
  std::map<std::string, int> taken_;
  std::map<std::string, int> registrations_;
  std::vector<std::shared_ptr<Plugin>> all_;
  std::vector<std::jthread> followers_;
};

}  // namespace railbed::kubelet
