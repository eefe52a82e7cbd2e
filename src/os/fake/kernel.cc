// SPDX-License-Identifier: Apache-2.0
#include "os/fake/kernel.h"

#include <algorithm>
#include <cerrno>

#include "os/fake/state.h"

namespace railbed::os {
namespace {

class FakeFiles : public FileTree {
 public:
  explicit FakeFiles(std::shared_ptr<FakeState> state) : state_(std::move(state)) {}

  Result<std::string> read(const std::string& path) const override { return now().read(path); }
  Result<std::vector<std::string>> list(const std::string& path) const override { return now().list(path); }
  Result<std::string> read_link(const std::string& path) const override { return now().read_link(path); }
  Result<std::string> real_path(const std::string& path) const override { return now().real_path(path); }
  bool exists(const std::string& path) const override { return now().exists(path); }

  Result<bool> is_in_use(const std::string& path) const override {
    auto lock = state_->look();
    if (state_->files_in_use.contains(path)) return true;
    if (state_->files.exists(path)) return false;
    return fail(system_error(ENOENT, "open " + path));
  }

  Result<void> write(const std::string& path, std::string_view content) override {
    std::string shown(content);
    while (!shown.empty() && shown.back() == '\n') shown.pop_back();
    std::string what = "write " + path;
    return state_->change(shown.empty() ? what : what + " " + shown, what, [&]() -> Result<void> {
      auto real = state_->files.real_path(path);
      if (!real) return fail(system_error(real.error().sys_errno, what));
      if (state_->files.list(*real)) return fail(system_error(EISDIR, what));
      return state_->write_file(*real, content, what);
    });
  }

 private:
  const MemoryFiles& now() const {
    auto lock = state_->look();  // lets everything that is due happen first
    return state_->files;
  }
  std::shared_ptr<FakeState> state_;
};

class FakeUeventStream : public UeventStream {
 public:
  explicit FakeUeventStream(std::shared_ptr<FakeState> state)
      : state_(std::move(state)), queue_(std::make_shared<std::deque<Uevent>>()) {
    auto lock = state_->look();
    state_->streams.push_back(queue_);
  }
  Result<Uevent> next(Deadline deadline) override {
    TRY(state_->wait(deadline, "uevent", [this] { return !queue_->empty(); }));
    auto lock = state_->look();
    Uevent event = std::move(queue_->front());
    queue_->pop_front();
    return event;
  }

 private:
  std::shared_ptr<FakeState> state_;
  std::shared_ptr<std::deque<Uevent>> queue_;
};

class FakeUeventPort : public UeventPort {
 public:
  explicit FakeUeventPort(std::shared_ptr<FakeState> state) : state_(std::move(state)) {}
  Result<std::unique_ptr<UeventStream>> open() override { return std::make_unique<FakeUeventStream>(state_); }

 private:
  std::shared_ptr<FakeState> state_;
};

class FakeLinkWatch : public LinkWatch {
 public:
  explicit FakeLinkWatch(std::shared_ptr<FakeState> state) : state_(std::move(state)) {
    auto lock = state_->look();
    seen_ = state_->link_changes;
  }
  Result<void> next(Deadline deadline) override {
    TRY(state_->wait(deadline, "announcement of an interface", [this] { return state_->link_changes != seen_; }));
    auto lock = state_->look();
    seen_ = state_->link_changes;
    return {};
  }

 private:
  std::shared_ptr<FakeState> state_;
  uint64_t seen_ = 0;
};

class FakeEswitch : public EswitchPort {
 public:
  explicit FakeEswitch(std::shared_ptr<FakeState> state) : state_(std::move(state)) {}
  Result<void> set_mode(PciAddress pf, EswitchMode mode) override {
    std::string text = fmt::format("pci/{} mode {}", pf, eswitch_mode_name(mode));
    std::string what = "DEVLINK_CMD_ESWITCH_SET " + text;
    return state_->change("eswitch " + text, what, [&]() -> Result<void> {
      TRY(find(pf, what))->mode = mode;
      put_eswitch_mode(state_->answers, pf, mode);
      return {};
    });
  }

 private:
  Result<FakePfState*> find(PciAddress address, const std::string& what) {
    FakeDevice* device = state_->device(address);
    if (device != nullptr && !device->vf && state_->pf_of(*device).config.eswitch) return &state_->pf_of(*device);
    Error error = system_error(ENODEV, what);
    error.code = Code::kUnsupported;
    return fail(std::move(error));
  }
  std::shared_ptr<FakeState> state_;
};

class FakeQuestions : public NetlinkQuestions {
 public:
  explicit FakeQuestions(std::shared_ptr<FakeState> state) : state_(std::move(state)) {}
  Result<void> reach(NetlinkFamily family) override {
    auto lock = state_->look();
    return state_->answers.reach(family);
  }
  Result<std::vector<NetlinkMessage>> ask(const NetlinkQuestion& question) override {
    auto lock = state_->look();
    TRY(state_->answers.reach(question.family()));
    if (const std::vector<NetlinkMessage>* messages = state_->answers.find(question)) return *messages;
    return fail(system_error(ENODEV, question.what()));
  }

 private:
  std::shared_ptr<FakeState> state_;
};

class FakeProcesses : public ProcessPort {
 public:
  explicit FakeProcesses(std::shared_ptr<FakeState> state) : state_(std::move(state)) {}
  Result<void> exec_in(const ExecRequest& request) override {
    std::string text = fmt::format("exec {} in {}", fmt::join(request.command, " "), request.netns_path);
    TRY(state_->change(text, text, [] { return Result<void>(); }));
    return fail(Code::kCanceled, "{}: the fake kernel runs no programs", text);
  }
  Result<RunResult> run(const RunRequest& request) override {
    std::string what = "run " + request.program;
    std::string line = what;
    for (const std::string& pair : request.environment)
      if (pair.starts_with("CNI_COMMAND=") || pair.starts_with("CNI_IFNAME="))
        line += " " + pair.substr(pair.find('=') + 1);
    FakeKernel::Program program;
    TRY(state_->change(line, what, [&]() -> Result<void> {
      auto found = state_->programs.find(request.program);
      if (found == state_->programs.end()) return fail(system_error(ENOENT, what));
      program = found->second;
      return {};
    }));
    return program(request);
  }
  void end_all() override {}
  std::string identity() const override { return "1-1"; }
  std::vector<std::string> missing_capabilities(const std::vector<std::string>& wanted) const override {
    auto lock = state_->look();
    std::vector<std::string> missing;
    for (const std::string& name : wanted)
      if (state_->machine.missing_capabilities.contains(name)) missing.push_back(name);
    return missing;
  }
  Result<void> load_module(const std::string& name) override {
    std::string what = "modprobe " + name;
    return state_->change(what, what, [&]() -> Result<void> {
      if (state_->drivers.contains(name)) return {};
      if (!state_->machine.loadable.contains(name))
        return fail(Code::kUnsupported, "{}: FATAL: Module {} not found in directory /lib/modules/{}", what, name,
                    state_->machine.kernel_release);
      state_->add_driver(name);
      return {};
    });
  }

 private:
  std::shared_ptr<FakeState> state_;
};

class FakeClock : public Clock {
 public:
  explicit FakeClock(std::shared_ptr<FakeState> state) : state_(std::move(state)) {}
  std::chrono::steady_clock::time_point now() const override {
    auto lock = state_->look();
    return state_->now;
  }
  void wait_until(Deadline deadline) override {
    (void)state_->wait(deadline, "wait", [] { return false; });
  }

 private:
  std::shared_ptr<FakeState> state_;
};

}  // namespace

FakeKernel::FakeKernel(const FakeMachine& machine) : state_(std::make_shared<FakeState>(machine)) {
  state_->build();
  files_ = std::make_unique<FakeFiles>(state_);
  netns_ = fake_netns(state_);
  uevents_ = std::make_unique<FakeUeventPort>(state_);
  processes_ = std::make_unique<FakeProcesses>(state_);
  clock_ = std::make_unique<FakeClock>(state_);
}
FakeKernel::~FakeKernel() = default;

void FakeKernel::fail_call(int nth, int sys_errno) {
  auto lock = state_->look();
  state_->faults.push_back({.call = state_->calls + nth, .sys_errno = sys_errno});
}
void FakeKernel::refuse_netns(const std::string& path, int sys_errno) {
  auto lock = state_->look();
  state_->refused_netns[path] = sys_errno;
}

void FakeKernel::refuse_netlink(NetlinkFamily family, int sys_errno) {
  auto lock = state_->look();
  state_->answers.unreachable.erase(family);
  if (sys_errno == 0) return;
  Error error =
      system_error(sys_errno, family == NetlinkFamily::kRdma ? "socket NETLINK_RDMA" : "socket NETLINK_GENERIC");
  if (error.code == Code::kUnsupported && sys_errno != EPROTONOSUPPORT) error.code = Code::kDenied;
  state_->answers.unreachable.emplace(family, std::move(error));
}
void FakeKernel::fail_when(std::string part, int sys_errno, int times) {
  auto lock = state_->look();
  state_->faults.push_back({.part = std::move(part), .sys_errno = sys_errno, .times = times});
}
void FakeKernel::kill_after(int calls, Kill kill) {
  auto lock = state_->look();
  state_->kill_at = state_->calls + calls;
  state_->kill = kill;
}
bool FakeKernel::killed() const {
  auto lock = state_->look();
  return state_->killed;
}
void FakeKernel::restart() {
  auto lock = state_->look();
  state_->killed = false;
  state_->kill_at.reset();
  state_->faults.clear();
  state_->hooks.clear();
}
void FakeKernel::before(std::string part, std::function<void()> action) {
  auto lock = state_->look();
  state_->hooks.push_back({std::move(part), std::move(action)});
}

void FakeKernel::delay_vfs(std::chrono::milliseconds delay) {
  auto lock = state_->look();
  state_->vf_delay = delay;
}
void FakeKernel::delay_drivers(std::chrono::milliseconds delay) {
  auto lock = state_->look();
  state_->driver_delay = delay;
}
void FakeKernel::delay_netdevs(std::chrono::milliseconds delay) {
  auto lock = state_->look();
  state_->netdev_delay = delay;
}
void FakeKernel::delay_carrier(std::chrono::milliseconds delay) {
  auto lock = state_->look();
  state_->carrier_delay = delay;
}
void FakeKernel::delay_netns_end(std::chrono::milliseconds delay) {
  auto lock = state_->look();
  state_->netns_delay = delay;
}

void FakeKernel::set_carrier(const std::string& name, bool carrier) {
  auto lock = state_->look();
  if (FakeNetdev* netdev = state_->netdev_by_name(kInitialNs, name)) {
    netdev->carrier = carrier;
    state_->update_carrier(*netdev);
  }
}
void FakeKernel::vanish_netns(const std::string& name) {
  auto lock = state_->look();
  if (FakeNs* ns = state_->ns_by_name(name)) state_->end_ns(*ns);
}
void FakeKernel::hide_netns(const std::string& name) {
  auto lock = state_->look();
  if (FakeNs* ns = state_->ns_by_name(name)) {
    ns->hidden = true;
    ns->name.clear();
  }
}
void FakeKernel::end_hidden_netns() {
  auto lock = state_->look();
  for (auto& [id, ns] : state_->namespaces) ns.hidden = false;
  state_->reap_namespaces();
}
void FakeKernel::remove_link(const std::string& name) {
  auto lock = state_->look();
  if (FakeNetdev* netdev = state_->netdev_by_name(kInitialNs, name)) state_->remove_netdev(netdev->id);
}
void FakeKernel::advertise(const std::string& netns, const std::string& interface, const IpPrefix& prefix,
                           const IpAddress& router) {
  auto lock = state_->look();
  const FakeNs* ns = state_->ns_by_name(netns);
  FakeNetdev* netdev = ns == nullptr ? nullptr : state_->netdev_by_name(ns->id, interface);
  if (netdev == nullptr || !netdev->link.up || netdev->link.mtu < kLeastIpv6Mtu || !state_->machine.ipv6) return;
  const auto is_on = [&](const char* key) {
    return state_->sysctl(ns->id, fmt::format("net/ipv6/conf/{}/{}", interface, key)) != "0";
  };
  if (!is_on("accept_ra")) return;
  netdev->advertised_routes = {Route::default_by(router)};
  if (is_on("autoconf")) netdev->advertised_addresses = {prefix};
}
void FakeKernel::use_file(const std::string& path, bool in_use) {
  auto lock = state_->look();
  if (in_use)
    state_->files_in_use.insert(path);
  else
    state_->files_in_use.erase(path);
}
void FakeKernel::change_owner(const std::string& netns) {
  auto lock = state_->look();
  if (FakeNs* ns = state_->ns_by_name(netns)) ns->of_other_user = true;
}
void FakeKernel::hide_sysctl(const std::string& key) {
  auto lock = state_->look();
  state_->hidden_sysctls.insert(key);
}
void FakeKernel::put_file(const std::string& path, const std::string& content) {
  auto lock = state_->look();
  state_->files.put_file(path, content);
}

void FakeKernel::put_link(const std::string& path, const std::string& target) {
  auto lock = state_->look();
  state_->files.put_link(path, target);
}

void FakeKernel::put_program(const std::string& path, Program program) {
  auto lock = state_->look();
  state_->programs[path] = std::move(program);
  state_->files.put_file(path, "");
}

std::vector<std::string> FakeKernel::journal() const {
  auto lock = state_->look();
  return state_->journal;
}
void FakeKernel::clear_journal() {
  auto lock = state_->look();
  state_->journal.clear();
}
std::string FakeKernel::snapshot() const {
  auto lock = state_->look();
  return state_->snapshot();
}

FileTree& FakeKernel::files() {
  return *files_;
}
NetnsPort& FakeKernel::netns() {
  return *netns_;
}
UeventPort& FakeKernel::uevents() {
  return *uevents_;
}
ProcessPort& FakeKernel::processes() {
  return *processes_;
}
Clock& FakeKernel::clock() {
  return *clock_;
}
Result<std::unique_ptr<LinkPort>> FakeKernel::links() {
  auto lock = state_->look();
  return fake_links(state_, kInitialNs);
}
Result<std::unique_ptr<RdmaPort>> FakeKernel::rdma() {
  {
    auto lock = state_->look();
    TRY(state_->answers.reach(NetlinkFamily::kRdma));
  }
  return fake_rdma(state_, kInitialNs);
}
Result<std::unique_ptr<EswitchPort>> FakeKernel::eswitch() {
  auto lock = state_->look();
  TRY(state_->answers.reach(NetlinkFamily::kDevlink));
  return std::make_unique<FakeEswitch>(state_);
}
std::unique_ptr<NetlinkQuestions> FakeKernel::questions() {
  return std::make_unique<FakeQuestions>(state_);
}
Result<std::unique_ptr<LinkWatch>> FakeKernel::link_watch() {
  return std::make_unique<FakeLinkWatch>(state_);
}
std::string FakeKernel::host_name() const {
  return state_->machine.host_name;
}
std::string FakeKernel::kernel_release() const {
  return state_->machine.kernel_release;
}
std::string FakeKernel::boot_id() const {
  return "00000000-0000-4000-8000-000000000001";
}

}  // namespace railbed::os
