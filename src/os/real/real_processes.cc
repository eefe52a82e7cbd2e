// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/ports/processes.h"
#include "os/real/capabilities.h"
#include "os/real/descriptor.h"
#include "os/real/fence.h"
#include "os/real/pointers.h"
#include "os/real/run_program.h"
#include "os/real/unix_socket.h"

namespace railbed::os {
namespace {

constexpr std::chrono::seconds kModprobeTimeout{60};
constexpr size_t kModprobeTextBytes = 4096;

// The effective capabilities of this process, one bit each.
uint64_t effective_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return 0;
  return uint64_t{data[1].effective} << 32 | data[0].effective;
}

Result<void> call(int result, const std::string& what) {
  if (result != 0) return fail(system_error(errno, what));
  return {};
}

// Shows /sys of the thread's network namespace, in a private mount namespace.
Result<void> remount_sys() {
  TRY(call(::unshare(CLONE_NEWNS), "unshare the mount namespace"));
  TRY(call(::mount("", "/", "none", MS_SLAVE | MS_REC, nullptr), "make mounts private"));
  struct statvfs status{};
  unsigned long flags = 0;
  if (::umount2("/sys", MNT_DETACH) != 0 && ::statvfs("/sys", &status) == 0 && (status.f_flag & ST_RDONLY) != 0)
    flags = MS_RDONLY;
  return call(::mount("sysfs", "/sys", "sysfs", flags, nullptr), "mount /sys");
}

// Waits for a child without polling; true when it ended before the timeout.
bool ended_in_time(pid_t child, std::chrono::seconds timeout) {
  Descriptor watch(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!watch) return true;  // no pidfd before 5.3: the caller's waitpid then waits without a limit
  auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{.fd = watch.get(), .events = POLLIN, .revents = 0};
    int ready = ::poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// The 22nd field of /proc/self/stat is the start in clock ticks since boot; the second one, a name in parentheses, may
// hold anything.
std::string own_identity() {
  std::ifstream file("/proc/self/stat");
  std::string stat((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
  std::string start;
  for (int field = 3; field <= 22; ++field) fields >> start;
  return fmt::format("{}-{}", ::getpid(), start);
}

class RealProcesses : public ProcessPort {
 public:
  Result<void> exec_in(const ExecRequest& request) override {
    if (request.command.empty()) return fail(Code::kInvalid, "exec: no command is given");
    if (!request.netns_path.empty()) {
      Descriptor netns(::open(request.netns_path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!netns) {
        Error error = system_error(errno, "open network namespace " + request.netns_path);
        if (error.code == Code::kNotFound) error.code = Code::kConflict;  // not the command's being missing
        return fail(std::move(error));
      }
      TRY(call(::setns(netns.get(), CLONE_NEWNET), "setns " + request.netns_path));
      TRY(remount_sys().context("entering {}", request.netns_path));
    }
    for (const std::string& pair : request.environment) {
      size_t equals = pair.find('=');
      if (equals == std::string::npos || equals == 0)
        return fail(Code::kInvalid, "exec: \"{}\" is not KEY=value", pair);
      ::setenv(pair.substr(0, equals).c_str(), pair.c_str() + equals + 1, 1);
    }
    ::execvp(request.command[0].c_str(), pointers(request.command).data());
    return fail(system_error(errno, "exec " + request.command[0]));
  }

  Result<RunResult> run(const RunRequest& request) override {
    const Fence* fence = nullptr;
    if (request.trust == Trust::kOthers) fence = TRY(the_fence().context("run {}", request.program));
    return run_program(request, ending_.fd(), limits_, fence);
  }
  void end_all() override { ending_.wake(); }

  std::string identity() const override { return identity_; }

  std::vector<std::string> missing_capabilities(const std::vector<std::string>& wanted) const override {
    uint64_t have = effective_capabilities();
    std::vector<std::string> missing;
    for (const std::string& name : wanted) {
      const std::optional<unsigned> number = capability_number(name);
      if (!number.has_value() || (have >> *number & 1) == 0) missing.push_back(name);
    }
    return missing;
  }

  Result<void> load_module(const std::string& name) override {
    if (name.empty() ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != std::string::npos)
      return fail(Code::kInvalid, "\"{}\" is not a module name", name);
    std::string underscored = name;
    std::ranges::replace(underscored, '-', '_');
    if (std::filesystem::exists("/sys/module/" + underscored)) return {};
    return run_modprobe(name);
  }

 private:
  const std::string identity_ = own_identity();
  const ProgramLimits limits_ = ProgramLimits::of_this_process();
  Waker ending_;  // readable from end_all() on, for all who wait
  std::mutex mutex_;
  std::optional<Fence> fence_;  // made when the first program of others is run

  Result<const Fence*> the_fence() {
    const std::lock_guard lock(mutex_);
    if (!fence_.has_value()) fence_ = TRY(Fence::make());
    return &*fence_;
  }

  static Result<void> run_modprobe(const std::string& name) {
    int ends[2];
    TRY(call(::pipe2(ends, O_CLOEXEC), "pipe"));
    Descriptor text_end(ends[0]);
    Descriptor child_end(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, child_end.get(), STDERR_FILENO);
    std::vector<std::string> command = {"modprobe", "--", name};
    pid_t child = -1;
    int failure = ::posix_spawnp(&child, "modprobe", &actions, nullptr, pointers(command).data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) return fail(system_error(failure, "run modprobe for module " + name));
    child_end = Descriptor();
    bool in_time = ended_in_time(child, kModprobeTimeout);
    if (!in_time) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!in_time)
      return fail(Code::kTimeout, "module {}: modprobe still runs after {} s", name, kModprobeTimeout.count());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    std::string text(kModprobeTextBytes, '\0');
    ssize_t count = ::read(text_end.get(), text.data(), text.size());
    text.resize(count > 0 ? static_cast<size_t>(count) : 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return fail(Code::kUnsupported, "module {}: modprobe: {}", name, text.empty() ? "failed" : text);
  }
};

}  // namespace

std::unique_ptr<ProcessPort> real_processes() {
  return std::make_unique<RealProcesses>();
}

}  // namespace railbed::os
