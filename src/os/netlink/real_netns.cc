// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/netlink/netlink_socket.h"
#include "os/netlink/nsid_codec.h"
#include "os/netlink/real_links.h"
#include "os/netlink/real_rdma.h"
#include "os/netlink/sender_threads.h"
#include "os/ports/netns.h"
#include "os/real/descriptor.h"
#include "os/real/find_netns.h"
#include "os/real/inside_netns.h"

namespace railbed::os {

Netns::~Netns() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::unique_ptr<Netns>> NetnsPort::open(const std::string& path) {
  std::shared_ptr<Hold> held;
  {
    const std::lock_guard lock(held_mutex_);
    if (const auto found = held_.find(path); found != held_.end()) held = found->second.lock();
  }
  return held != nullptr ? again(held->netns()) : open_at(path);
}

Result<std::shared_ptr<NetnsPort::Hold>> NetnsPort::hold(std::unique_ptr<Netns> netns) {
  const std::string path = netns->path();
  const NetnsIdentity wanted = TRY(identity(*netns));
  const std::lock_guard lock(held_mutex_);
  std::erase_if(held_, [](const auto& one) { return one.second.expired(); });
  if (const auto found = held_.find(path); found != held_.end())
    if (std::shared_ptr<Hold> there = found->second.lock()) {
      if (TRY(identity(there->netns())) == wanted) return there;
      return fail(Code::kBusy, "{} is in use by another request, for a different network namespace", path);
    }
  auto made = std::make_shared<Hold>(std::move(netns));
  held_[path] = made;
  return made;
}

namespace {

constexpr std::chrono::seconds kLockTimeout{10};
constexpr const char* kSysctls = "/proc/sys/";
constexpr ino_t kInitialUserNamespace = 0xEFFFFFFD;  // PROC_USER_INIT_INO: the same on each machine
constexpr const char* kOwn = "/proc/thread-self/ns/net";
// Since Linux 6.18 a namespace reports its number itself, which is also that of SO_NETNS_COOKIE: NS_GET_ID.
constexpr unsigned long kGetId = _IOR(NSIO, 13, uint64_t);

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

  Result<std::unique_ptr<Netns>> open_at(const std::string& path) override {
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return fail(system_error(errno, "open network namespace " + path));
    if (!is_network_namespace(fd.get()))
      return fail(Code::kNotFound, "open network namespace {}: this is not a network namespace (any more)", path);
    return std::make_unique<Netns>(fd.release(), path);
  }
  Result<std::unique_ptr<Netns>> again(const Netns& netns) override {
    Descriptor fd(::fcntl(netns.fd(), F_DUPFD_CLOEXEC, 0));
    if (!fd) return fail(system_error(errno, "dup of network namespace " + netns.path()));
    return std::make_unique<Netns>(fd.release(), netns.path());
  }
  Result<std::unique_ptr<Netns>> take(int fd, const std::string& path) override {
    auto taken = std::make_unique<Netns>(fd, path);
    if (is_network_namespace(fd)) return taken;
    return fail(Code::kInvalid, "the descriptor passed for {} is not a network namespace", path);
  }
  Result<std::unique_ptr<Netns>> open_own() override { return open_at(kOwn); }
  Result<bool> is_own(const std::string& path) override {
    auto that = TRY(open(path));
    return are_same(*that, *TRY(open_own()));
  }
  Result<bool> leads_to(const std::string& path, const Netns& netns) override {
    auto that = open_at(path);
    if (!that.has_value() && that.error().code == Code::kNotFound) return false;
    return are_same(*TRY(std::move(that)), netns);
  }

  Result<NetnsIdentity> identity(const Netns& netns) override {
    uint64_t number = 0;
    if (::ioctl(netns.fd(), kGetId, &number) == 0) return NetnsIdentity{.number = number};
    auto port = TRY(real_links(&netns));
    const auto reported = TRY(port->namespace_number().context("asking {} which one it is", netns.path()));
    return NetnsIdentity{.number = reported.number, .of_file = reported.of_file};
  }

  Result<uint64_t> file_number(const Netns& netns) override {
    struct stat file{};
    if (::fstat(netns.fd(), &file) != 0) return fail(system_error(errno, "fstat " + netns.path()));
    return file.st_ino;
  }
  Result<Nsid> number(const Netns& netns) override {
    auto socket = TRY(NetlinkSocket::open(NETLINK_ROUTE));
    if (auto known = TRY(ask_number(socket, netns))) return *known;
    auto give = encode_give_nsid(netns.fd());
    // EEXIST: somebody else has given it one meanwhile.
    if (auto given = socket.ask(give); !given && given.error().sys_errno != EEXIST)
      return fail(netlink_error(given.error(), "RTM_NEWNSID of " + netns.path()));
    if (auto known = TRY(ask_number(socket, netns))) return *known;
    return fail(Code::kUnsupported, "RTM_NEWNSID of {}: the kernel gave it no number", netns.path());
  }
  Result<std::optional<Nsid>> number_if_any(const Netns& netns) override {
    auto socket = TRY(NetlinkSocket::open(NETLINK_ROUTE));
    return ask_number(socket, netns);
  }
  Result<std::set<Nsid>> numbers() override {
    auto socket = TRY(NetlinkSocket::open(NETLINK_ROUTE));
    return numbers_of(socket, "RTM_GETNSID of all");
  }

  Result<bool> knows_others(const Netns& netns) override {
    const std::unique_ptr<Netns> own = TRY(open_own());
    auto socket = TRY(NetlinkSocket::open(NETLINK_ROUTE, &netns));
    const std::optional<Nsid> home = TRY(ask_number(socket, *own));
    const std::set<Nsid> all = TRY(numbers_of(socket, "RTM_GETNSID of all in " + netns.path()));
    return std::ranges::any_of(all, [&](const Nsid& one) { return one != home; });
  }
  Result<bool> is_of_initial_user(const Netns& netns) override {
    const Descriptor owner(::ioctl(netns.fd(), NS_GET_USERNS));
    if (!owner) return fail(system_error(errno, "ioctl NS_GET_USERNS of " + netns.path()));
    struct stat file{};
    if (::fstat(owner.get(), &file) != 0) return fail(system_error(errno, "fstat of the owner of " + netns.path()));
    return file.st_ino == kInitialUserNamespace;
  }

  Result<void> visit(const std::vector<std::string>& folders, const Visit& visit) override {
    std::vector<std::string> places = folders;
    if (std::ranges::find(places, run_dir_) == places.end()) places.push_back(run_dir_);
    std::set<NetnsIdentity> seen;
    return find_netns(places, [&](Descriptor fd, const std::string& where) -> Result<bool> {
      auto found = std::make_unique<Netns>(fd.release(), where);
      const NetnsIdentity who = TRY(identity(*found));
      if (!seen.insert(who).second) return true;
      return visit(std::move(found), who);
    });
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
  Result<void> set_sysctls(const Netns& netns, const Sysctls& settings, const Sysctls& if_there, size_t& at) override {
    Sysctls all = settings;
    all.insert(all.end(), if_there.begin(), if_there.end());
    if (all.empty()) return {};
    for (at = 0; at < all.size(); ++at) TRY(check_key(all[at].first));
    int failure = 0;
    TRY(run_inside(netns, [&] {
      for (at = 0; at < all.size(); ++at) {
        failure = set_text(kSysctls + all[at].first, all[at].second);
        if (failure == ENOENT && at >= settings.size()) failure = 0;
        if (failure != 0) return;
      }
    }));
    if (failure == 0) return {};
    const auto& [key, value] = all[at];
    return fail(system_error(failure, fmt::format("write \"{}\" to {}{} in {}", value, kSysctls, key, netns.path())));
  }

 private:
  // A namespace is one inode of nsfs, whichever mount or process leads to it (namespaces(7)): while both are open.
  static Result<bool> are_same(const Netns& one, const Netns& other) {
    struct stat a{};
    struct stat b{};
    if (::fstat(one.fd(), &a) != 0) return fail(system_error(errno, "fstat " + one.path()));
    if (::fstat(other.fd(), &b) != 0) return fail(system_error(errno, "fstat " + other.path()));
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  }

  static Result<std::set<Nsid>> numbers_of(NetlinkSocket& socket, const std::string& what) {
    auto list = encode_list_nsids();
    auto messages = socket.ask(list);
    if (!messages) return fail(netlink_error(messages.error(), what));
    std::set<Nsid> all;
    for (const NetlinkMessage& message : *messages)
      if (auto one = decode_nsid(message)) all.insert(*one);
    return all;
  }

  static Result<std::optional<Nsid>> ask_number(NetlinkSocket& socket, const Netns& netns) {
    auto request = encode_nsid_of(netns.fd());
    auto messages = socket.ask(request);
    if (!messages) return fail(netlink_error(messages.error(), "RTM_GETNSID of " + netns.path()));
    for (const NetlinkMessage& message : *messages)
      if (auto one = decode_nsid(message)) return one;
    return std::optional<Nsid>{};
  }

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
        return fail(Code::kBusy, "lock {}: another process has held it for {} s", run_dir_, kLockTimeout.count());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return fd;
  }

  Result<void> loopback_up(const std::string& path) {
    auto netns = TRY(open_at(path));
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
