// SPDX-License-Identifier: Apache-2.0
#include "os/ports/netns.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/netlink/real_links.h"
#include "os/netlink/real_rdma.h"
#include "os/netlink/sender_threads.h"
#include "os/real/descriptor.h"
#include "os/real/inside_netns.h"

namespace railbed::os {

Netns::~Netns() {
  if (fd_ >= 0) ::close(fd_);
}

namespace {

constexpr std::chrono::seconds kLockTimeout{10};
constexpr const char* kSysctls = "/proc/sys/";
constexpr const char* kOwn = "/proc/thread-self/ns/net";

Result<void> check_name(const std::string& name) {
  if (name.empty() || name.size() > NAME_MAX || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    return fail(Code::kInvalid, "\"{}\" cannot name a network namespace: 1 to {} bytes without '/'", name, NAME_MAX);
  return {};
}

Result<void> check_key(const std::string& key) {
  if (key.starts_with("net/") && key.find("..") == std::string::npos) return {};
  return fail(Code::kInvalid, "sysctl {}: only keys below net/ belong to a network namespace", key);
}

// These return an errno. They run in their own thread and must not throw for an error of the kernel.
int read_text(int fd, std::string& text) {
  char buffer[4096];
  ssize_t size = ::read(fd, buffer, sizeof buffer);
  if (size < 0) return errno;
  text.assign(buffer, static_cast<size_t>(size));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return 0;
}

int read_text(const std::string& path, std::string& text) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? read_text(fd.get(), text) : errno;
}

// Read and written through one descriptor, because looking up a name below /proc/sys costs more than both. The position
// is 0: the kernel ignores a number that is written elsewhere (kernel.sysctl_writes_strict).
int set_text(const std::string& path, const std::string& value) {
  std::string now;
  Descriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) {  // it may only be read, or only be written
    if (read_text(path, now) == 0 && now == value) return 0;
    fd = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return errno;
  } else if (read_text(fd.get(), now) == 0 && now == value) {
    return 0;
  }
  return ::pwrite(fd.get(), value.data(), value.size(), 0) < 0 ? errno : 0;
}

bool is_namespace(const std::string& path) {
  struct statfs status{};
  return ::statfs(path.c_str(), &status) == 0 && status.f_type == NSFS_MAGIC;
}

// Moves this thread from the initial namespace to a new one and mounts it on `path`; returns an errno and the call that
// failed.
std::pair<int, const char*> make_namespace_at(const std::string& path) {
  if (::unshare(CLONE_NEWNET) != 0) return {errno, "unshare"};
  if (::mount("/proc/thread-self/ns/net", path.c_str(), "none", MS_BIND, nullptr) != 0) return {errno, "mount"};
  return {0, ""};
}

class RealNetns : public NetnsPort {
 public:
  explicit RealNetns(std::string run_dir) : run_dir_(std::move(run_dir)) {}

  Result<void> create(const std::string& name) override {
    TRY(check_name(name));
    TRY(prepare_run_dir());
    Descriptor lock = TRY(lock_run_dir());
    std::string path = path_of(name);
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0));
    // A file that is no namespace remains from a process that died between open and mount.
    if (!file && !(errno == EEXIST && !is_namespace(path)))
      return fail(system_error(errno, "create network namespace " + path));
    std::pair<int, const char*> failure{0, ""};
    try {
      std::thread([&] { failure = make_namespace_at(path); }).join();
    } catch (const std::system_error&) {
      ::unlink(path.c_str());
      return fail(no_thread_error("network namespace " + path));
    }
    if (failure.first != 0) {
      ::unlink(path.c_str());
      return fail(system_error(failure.first, fmt::format("{} for network namespace {}", failure.second, path)));
    }
    auto up = loopback_up(path);
    if (!up) (void)remove_locked(name);
    return std::move(up).context("network namespace {}", name);
  }

  Result<void> remove(const std::string& name) override {
    TRY(check_name(name));
    Descriptor lock = TRY(lock_run_dir());
    return remove_locked(name);
  }

  Result<std::vector<std::string>> names() override {
    std::vector<std::string> all;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(run_dir_, failure))
      if (std::string path = entry.path(); is_namespace(path)) all.push_back(entry.path().filename());
    if (failure && failure.value() != ENOENT) return fail(system_error(failure.value(), "list " + run_dir_));
    std::ranges::sort(all);
    return all;
  }

  std::string path_of(const std::string& name) const override { return run_dir_ + "/" + name; }

  Result<std::unique_ptr<Netns>> open(const std::string& path) override {
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return fail(system_error(errno, "open network namespace " + path));
    struct statfs status{};
    if (::fstatfs(fd.get(), &status) != 0) return fail(system_error(errno, "statfs " + path));
    if (status.f_type != NSFS_MAGIC || ::ioctl(fd.get(), NS_GET_NSTYPE) != CLONE_NEWNET)
      return fail(Code::kNotFound, "open network namespace {}: this is no network namespace (any more)", path);
    return std::make_unique<Netns>(fd.release(), path);
  }
  Result<std::unique_ptr<Netns>> open_own() override { return open(kOwn); }
  // A namespace is one inode of nsfs, whichever mount or process leads to it (namespaces(7)).
  Result<bool> is_own(const std::string& path) override {
    auto that = TRY(open(path));
    struct stat a{};
    struct stat b{};
    if (::fstat(that->fd(), &a) != 0) return fail(system_error(errno, "fstat " + path));
    if (::stat(kOwn, &b) != 0) return fail(system_error(errno, std::string("stat ") + kOwn));
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  }

  Result<std::unique_ptr<LinkPort>> links(const Netns& netns) override { return real_links(&netns, &threads_); }
  Result<std::unique_ptr<RdmaPort>> rdma(const Netns& netns) override { return real_rdma(&netns); }

  Result<std::string> sysctl(const Netns& netns, const std::string& key) override {
    TRY(check_key(key));
    std::string path = kSysctls + key;
    std::string value;
    int failure = 0;
    TRY(run_inside(netns, [&] { failure = read_text(path, value); }));
    if (failure != 0) return fail(system_error(failure, fmt::format("read {} in {}", path, netns.path())));
    return value;
  }

  using NetnsPort::set_sysctls;
  Result<void> set_sysctls(const Netns& netns, const Sysctls& settings, size_t& at) override {
    if (settings.empty()) return {};
    for (at = 0; at < settings.size(); ++at) TRY(check_key(settings[at].first));
    int failure = 0;
    TRY(run_inside(netns, [&] {
      for (at = 0; at < settings.size(); ++at)
        if (failure = set_text(kSysctls + settings[at].first, settings[at].second); failure != 0) return;
    }));
    if (failure == 0) return {};
    const auto& [key, value] = settings[at];
    return fail(system_error(failure, fmt::format("write \"{}\" to {}{} in {}", value, kSysctls, key, netns.path())));
  }

 private:
  // Processes with their own mount namespaces must see mounts made here, so the directory is shared, as `ip netns`
  // makes it.
  Result<void> prepare_run_dir() {
    std::error_code failure;
    std::filesystem::create_directories(run_dir_, failure);
    if (failure) return fail(system_error(failure.value(), "create " + run_dir_));
    for (bool bound = false;; bound = true) {
      if (::mount("", run_dir_.c_str(), "none", MS_SHARED | MS_REC, nullptr) == 0) return {};
      if (errno != EINVAL || bound) return fail(system_error(errno, "share the mount " + run_dir_));
      if (::mount(run_dir_.c_str(), run_dir_.c_str(), "none", MS_BIND | MS_REC, nullptr) != 0)
        return fail(system_error(errno, "mount " + run_dir_));
    }
  }

  // Only one creation or removal runs at a time, also across processes.
  Result<Descriptor> lock_run_dir() {
    Descriptor fd(::open(run_dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return fail(system_error(errno, "open " + run_dir_));
    auto deadline = std::chrono::steady_clock::now() + kLockTimeout;
    while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return fail(system_error(errno, "lock " + run_dir_));
      if (std::chrono::steady_clock::now() > deadline)
        return fail(Code::kBusy, "lock {}: somebody has held it for {} s", run_dir_, kLockTimeout.count());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return fd;
  }

  Result<void> loopback_up(const std::string& path) {
    auto netns = TRY(open(path));
    auto port = TRY(real_links(netns.get()));
    auto loopback = TRY(port->find(IfName{"lo"}, WithVfs::kNo));
    return port->change(loopback.index, {.up = true});
  }

  Result<void> remove_locked(const std::string& name) {
    std::string path = path_of(name);
    while (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
    if (errno != EINVAL && errno != ENOENT) return fail(system_error(errno, "unmount network namespace " + path));
    if (::unlink(path.c_str()) != 0) return fail(system_error(errno, "remove network namespace " + path));
    return {};
  }

  std::string run_dir_;
  SenderThreads threads_;
};

}  // namespace

std::unique_ptr<NetnsPort> real_netns(const std::string& run_dir) {
  return std::make_unique<RealNetns>(run_dir);
}

}  // namespace railbed::os
