// SPDX-License-Identifier: Apache-2.0
#include "kubelet/grpc/device_plugin.h"

#include <algorithm>
#include <thread>

#include "doc/json.h"
#include "kubelet/grpc/resource_server.h"
#include "kubelet/grpc/status.h"
#include "kubelet/soft_verbs.h"

namespace railbed::kubelet {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{1000};

class Plugin : public DevicePlugin, public Allocations {
 public:
  Plugin(const DevicePluginParts& parts, DevicePluginSettings settings, std::unique_ptr<os::DirectoryWatch> watch)
      : parts_(parts),
        settings_(std::move(settings)),
        pod_devices_(parts.files, &parts.pod_resources, settings_.checkpoint),
        watch_(std::move(watch)),
        keeper_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Plugin() override;

  Result<void> offer(NodeDevices devices) override;
  Result<void> withdraw(const std::set<PciAddress>& vfs) override;
  Result<AllocatedVfs> allocated() override;
  void devices_made() override { soft_verbs_.look(parts_.files); }
  std::vector<std::string> problems() const override;

  // What the kubelet asks, from gRPC's threads.
  Result<Allocation> allocate(const std::string& resource, const std::vector<std::string>& ids) override;
  Resource resource(const std::string& name) override;

 private:
  // A resource that is offered, or was and is being ended.
  struct Served {
    std::unique_ptr<ResourceServer> server;
    Time next_try{};
    milliseconds pause = kFirstPause;
    std::string problem;
  };
  using ServedPtr = std::shared_ptr<Served>;

  Result<VfFiles> look_up(const Device& device, bool soft_rdma);
  Result<void> write_device_info(const std::string& resource, const Allocation& allocation);

  // --- what is offered
  using Reported = std::vector<std::pair<ServedPtr, DeviceList::Version>>;
  Reported report(Resources now);
  bool all_delivered(const Reported& reported, os::Deadline deadline) const;
  void refresh_checkpoint(os::Deadline deadline);
  std::vector<ServedPtr> all_served() const;

  // --- the keeper's thread
  void run(const std::stop_token& stop);
  Time keep(const std::stop_token& stop);
  void end(const std::vector<ServedPtr>& gone) const;
  Result<void> serve(Served& one);
  Result<void> register_with_kubelet(Served& one, const std::stop_token& stop) const;
  std::optional<os::FileStamp> kubelet_socket() const;  // nullopt: it is not there
  void look_for_new_kubelet();

  DevicePluginParts parts_;
  DevicePluginSettings settings_;
  PodDevices pod_devices_;
  SoftVerbs soft_verbs_;
  std::unique_ptr<os::DirectoryWatch> watch_;

  mutable std::mutex mutex_;
  NodeDevices node_;
  std::set<PciAddress> withdrawn_;
  Resources resources_;
  std::map<std::string, ServedPtr> served_;
  std::vector<ServedPtr> ended_;
  struct Answered {
    Time when;
    std::string resource;
  };
  std::map<PciAddress, Answered> answered_;  // VFs that Allocate gave, until the kubelet's own record has them

  std::optional<os::FileStamp> kubelet_;  // its socket, as the keeper saw it
  std::jthread keeper_;                   // last: it uses the others
};

Plugin::~Plugin() {
  keeper_.request_stop();
  watch_->wake();
  keeper_.join();
  for (const ServedPtr& one : all_served()) one->server->stop();
}

// --- what is offered

Plugin::Reported Plugin::report(Resources now) {
  Reported reported;
  resources_ = std::move(now);
  for (const auto& [name, resource] : resources_) {
    ServedPtr& one = served_[name];
    if (one == nullptr) {
      one = std::make_shared<Served>();
      one->server =
          std::make_unique<ResourceServer>(name, settings_.directory, parts_.disk, *this, [this] { watch_->wake(); });
    }
    reported.emplace_back(one, one->server->list().set(list_of(resource)));
  }
  for (auto it = served_.begin(); it != served_.end();) {
    if (resources_.contains(it->first)) {
      ++it;
      continue;
    }
    reported.emplace_back(it->second, it->second->server->list().set({}));
    ended_.push_back(std::move(it->second));
    it = served_.erase(it);
  }
  return reported;
}

Result<void> Plugin::offer(NodeDevices devices) {
  {
    const std::scoped_lock lock(mutex_);
    node_ = std::move(devices);
    withdrawn_.clear();
    report(resources_of(node_, withdrawn_));
  }
  watch_->wake();
  return {};
}

Result<void> Plugin::withdraw(const std::set<PciAddress>& vfs) {
  Reported reported;
  {
    const std::scoped_lock lock(mutex_);
    withdrawn_.insert(vfs.begin(), vfs.end());
    reported = report(resources_of(node_, withdrawn_));
  }
  if (all_delivered(reported, std::chrono::steady_clock::now() + settings_.notice)) return {};
  return fail(Code::kTimeout, "the kubelet has not accepted the withdrawal of VFs within {} ms",
              settings_.notice.count());
}

bool Plugin::all_delivered(const Reported& reported, os::Deadline deadline) const {
  return std::ranges::all_of(
      reported, [&](const auto& one) { return one.first->server->list().delivered(one.second, deadline); });
}

std::vector<Plugin::ServedPtr> Plugin::all_served() const {
  const std::scoped_lock lock(mutex_);
  std::vector<ServedPtr> all = ended_;
  for (const auto& [name, one] : served_) all.push_back(one);
  return all;
}

// --- what is allocated

// The kubelet forgets what ended pods had when it lists its pods, and writes its checkpoint when a list of devices
// comes.
void Plugin::refresh_checkpoint(os::Deadline deadline) {
  const Result<os::FileStamp> before = parts_.disk.stamp(settings_.checkpoint);
  bool asked = false;
  for (const ServedPtr& one : all_served()) {
    if (asked || !one->server->list().kubelet_follows()) continue;
    one->server->list().repeat();
    asked = true;
  }
  if (!asked || !before.has_value()) return;
  Result<std::unique_ptr<os::DirectoryWatch>> written = os::real_directory_watch();
  if (!written.has_value() || !(*written)->watch(settings_.directory).has_value()) return;
  while (true) {
    const Result<os::FileStamp> now = parts_.disk.stamp(settings_.checkpoint);
    if (now.has_value() && *now != *before) return;
    if (!(*written)->next(deadline).has_value()) return;
  }
}

Result<AllocatedVfs> Plugin::allocated() {
  const Time now = std::chrono::steady_clock::now();
  bool listed = false;
  AllocatedVfs all = TRY(pod_devices_
                             .all(now + settings_.call,
                                  [&] {
                                    listed = true;
                                    refresh_checkpoint(std::chrono::steady_clock::now() + settings_.notice);
                                  })
                             .context("requesting the VFs of pods from the kubelet"));
  const std::scoped_lock lock(mutex_);
  if (listed) std::erase_if(answered_, [&](const auto& one) { return one.second.when + settings_.admission <= now; });
  for (const auto& [vf, answered] : answered_) {
    all.pods.try_emplace(vf, "(a pod that is being admitted)");
    all.resources[vf].insert(answered.resource);
  }
  return all;
}

// --- what the kubelet asks

Resource Plugin::resource(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  auto found = resources_.find(name);
  return found == resources_.end() ? Resource{} : found->second;
}

Result<VfFiles> Plugin::look_up(const Device& device, bool soft_rdma) {
  VfFiles files = TRY(vf_files(parts_.files, device.vf.address));
  if (soft_rdma && device.vf.rdma && files.char_devices.empty())
    files.char_devices.push_back(
        TRY(soft_verbs_.reserve(parts_.files, device.vf.address, std::chrono::steady_clock::now())));
  return files;
}

Result<Allocation> Plugin::allocate(const std::string& name, const std::vector<std::string>& ids) {
  Resource resource;
  {
    const std::scoped_lock lock(mutex_);
    if (auto found = resources_.find(name); found != resources_.end()) resource = found->second;
    // Before the look-up: who withdraws these now must learn that they are being given away.
    for (const std::string& id : ids)
      if (const Device* device = resource.find(id);
          device != nullptr && device->unhealthy.empty() && device->ending.empty())
        answered_[device->vf.address] = {std::chrono::steady_clock::now(), name};
  }
  Allocation allocation =
      TRY(kubelet::allocate(name, resource, ids, [&](const Device& one) { return look_up(one, resource.soft_rdma); }));
  TRY(write_device_info(name, allocation));
  return allocation;
}

Result<void> Plugin::write_device_info(const std::string& resource, const Allocation& allocation) {
  TRY(parts_.disk.make_directories(settings_.device_info + "/dp", 0755));
  for (const auto& [id, info] : allocation.device_info) {
    const std::string path = device_info_path(settings_.device_info, resource, id);
    if (info.is_null())
      TRY(parts_.disk.remove(path));
    else
      TRY(parts_.disk.replace(path, doc::to_json(info), 0644));
  }
  return {};
}

// --- the keeper's thread

void Plugin::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Time next = keep(stop);
    if (!stop.stop_requested()) (void)watch_->next(next);
  }
}

std::optional<os::FileStamp> Plugin::kubelet_socket() const {
  const Result<os::FileStamp> now = parts_.disk.stamp(settings_.directory + "/kubelet.sock");
  return now.has_value() ? std::optional(*now) : std::nullopt;
}

// A kubelet that has started again is tried at once, whatever came of the attempts before.
void Plugin::look_for_new_kubelet() {
  (void)watch_->watch(settings_.directory);  // it may not be there yet
  const std::optional<os::FileStamp> seen = kubelet_socket();
  if (seen == kubelet_) return;
  kubelet_ = seen;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, one] : served_) {
    // A stream that is still open is of the kubelet before, or of somebody else.
    if (seen.has_value()) one->server->list().forget_kubelet();
    one->next_try = {};
    one->pause = kFirstPause;
  }
}

// Returns when to look again without being woken.
Time Plugin::keep(const std::stop_token& stop) {
  std::vector<ServedPtr> gone;
  {
    const std::scoped_lock lock(mutex_);
    gone.swap(ended_);
  }
  end(gone);
  look_for_new_kubelet();
  Time next = std::chrono::steady_clock::now() + settings_.look;
  bool hangs = false;  // then the other resources need not wait for it, too
  for (const ServedPtr& one : all_served()) {
    if (stop.stop_requested()) return next;
    if (one->server->list().kubelet_follows()) {
      const std::scoped_lock lock(mutex_);
      one->next_try = {};
      one->pause = kFirstPause;
      one->problem.clear();
      continue;
    }
    const Time now = std::chrono::steady_clock::now();
    if (now >= one->next_try && !hangs) {
      // What registers with a new kubelet before that is noticed would do it again.
      if (kubelet_socket() != kubelet_) return now;
      Result<void> done = serve(*one);
      if (done.has_value()) done = register_with_kubelet(*one, stop);
      hangs = !done.has_value() && done.error().code == Code::kTimeout;
      const std::scoped_lock lock(mutex_);
      one->problem = done.has_value() ? "" : done.error().story();
      one->next_try = std::chrono::steady_clock::now() + (done.has_value() ? settings_.stream : one->pause);
      one->pause = std::min(one->pause * 2, kLongestPause);
    }
    next = std::min(next, std::max(one->next_try, now + kFirstPause));
  }
  return next;
}

// The kubelet takes the empty list first, and counts none: otherwise it would remember them as unhealthy.
void Plugin::end(const std::vector<ServedPtr>& gone) const {
  const Time deadline = std::chrono::steady_clock::now() + settings_.notice;
  for (const ServedPtr& one : gone) (void)one->server->list().delivered(one->server->list().set({}), deadline);
  for (const ServedPtr& one : gone) one->server->list().end_streams();
  for (const ServedPtr& one : gone) one->server->stop();
}

Result<void> Plugin::serve(Served& one) {
  if (one.server->can_be_reached()) return {};
  one.server->stop();
  return one.server->start();
}

Result<void> Plugin::register_with_kubelet(Served& one, const std::stop_token& stop) const {
  const std::string socket = settings_.directory + "/kubelet.sock";
  if (!kubelet_.has_value()) return fail(Code::kNotFound, "{} not found; check that the kubelet is running", socket);
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(one.server->endpoint());
  request.set_resource_name(one.server->name());
  request.mutable_options()->set_get_preferred_allocation_available(true);
  grpc::ClientContext context;
  set_deadline(context, std::chrono::steady_clock::now() + settings_.call);
  const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
  v1beta1::Empty answer;
  one.server->list().await_kubelet();
  const grpc::Status status = v1beta1::Registration::NewStub(channel_to(socket))->Register(&context, request, &answer);
  if (status.ok()) return {};
  one.server->list().forget_kubelet();
  return fail(error_of(status, fmt::format("registering {} with the kubelet", one.server->name())));
}

std::vector<std::string> Plugin::problems() const {
  std::vector<std::string> lines;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, one] : served_)
    if (!one->server->list().kubelet_follows())
      lines.push_back(
          fmt::format("{}: {}", name, one->problem.empty() ? "the kubelet has not accepted it yet" : one->problem));
  return lines;
}

}  // namespace

Result<std::unique_ptr<DevicePlugin>> DevicePlugin::start(const DevicePluginParts& parts, DevicePluginSettings settings,
                                                          std::unique_ptr<os::DirectoryWatch> watch) {
  silence_grpc();
  if (watch == nullptr) watch = TRY(os::real_directory_watch());
  return std::make_unique<Plugin>(parts, std::move(settings), std::move(watch));
}

}  // namespace railbed::kubelet
