// SPDX-License-Identifier: Apache-2.0
#include "os/real/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace railbed::os {

namespace {
constexpr int kUnixBacklog = 1024;  // the kernel limits it to net.core.somaxconn

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return fail(Code::kInvalid, "\"{}\" is not a valid unix socket path: 1 to {} bytes", path,
                sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<Descriptor> new_socket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(system_error(errno, "socket(AF_UNIX)"));
  return socket;
}

Result<void> make_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code problem;
  if (!folder.empty() && std::filesystem::create_directories(folder, problem))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, problem);
  if (problem) return fail(system_error(problem.value(), "mkdir " + folder.string()));
  return {};
}

Error somebody_listens(const std::string& path) {
  return Error{.code = Code::kBusy,
               .message = fmt::format("another process listens on {}", path),
               .hint = "only one agent runs per machine; stop the other one, or use another --socket"};
}
}  // namespace

Result<Connection> Connection::connect(const std::string& path) {
  const sockaddr_un address = TRY(address_of(path));
  Descriptor socket = TRY(new_socket());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(system_error(errno, "connect " + path));
  return Connection(std::move(socket));
}

Result<Peer> Connection::peer() const {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return fail(system_error(errno, "getsockopt SO_PEERCRED"));
  return Peer{who.uid, who.pid};
}

Result<std::optional<size_t>> Connection::read_some(std::span<char> into) {
  ssize_t got;
  do got = ::recv(fd(), into.data(), into.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got >= 0) return static_cast<size_t>(got);
  if (errno == EAGAIN) return std::nullopt;
  return fail(system_error(errno, "recv"));
}

Result<std::optional<size_t>> Connection::read_some(std::span<char> into, Descriptor& passed) {
  constexpr size_t kMostPassed = 4;  // the kernel closes what has no room
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostPassed)];
  iovec bytes{.iov_base = into.data(), .iov_len = into.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do got = ::recvmsg(fd(), &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::nullopt;
  if (got < 0) return fail(system_error(errno, "recvmsg"));
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= one->cmsg_len; at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(one) + at, sizeof number);
      Descriptor next(number);
      if (!passed) passed = std::move(next);
    }
  }
  return static_cast<size_t>(got);
}

Result<size_t> Connection::write_some(std::string_view bytes) {
  ssize_t put;
  do put = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  while (put < 0 && errno == EINTR);
  if (put >= 0) return static_cast<size_t>(put);
  if (errno == EAGAIN) return size_t{0};
  return fail(system_error(errno, "send"));
}

Result<UnixListener> UnixListener::open(const std::string& path) {
  TRY(address_of(path));
  TRY(make_folder_of(path));
  Descriptor lock = TRY(lock_at(path));
  Descriptor socket = TRY(listen_at(path));
  return UnixListener(path, std::move(lock), std::move(socket));
}

Result<Descriptor> UnixListener::lock_at(const std::string& path) {
  Descriptor lock(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return fail(system_error(errno, "open " + path + ".lock"));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return fail(somebody_listens(path));
  return fail(system_error(errno, "flock " + path + ".lock"));
}

Result<Descriptor> UnixListener::listen_at(const std::string& path) {
  const std::string fresh = path + ".new";
  const sockaddr_un address = TRY(address_of(fresh));
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0 && !S_ISSOCK(there.st_mode))
    return fail(Code::kConflict, "{} exists and is not a socket", path);
  if (Connection::connect(path)) return fail(somebody_listens(path));
  ::unlink(fresh.c_str());
  Descriptor socket = TRY(new_socket());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(system_error(errno, "bind " + fresh));
  // No client can connect before listen(), so the mode is set early enough.
  if (::chmod(fresh.c_str(), 0600) != 0) return fail(system_error(errno, "chmod " + fresh));
  if (::listen(socket.get(), kUnixBacklog) != 0) return fail(system_error(errno, "listen " + fresh));
  if (::rename(fresh.c_str(), path.c_str()) != 0) return fail(system_error(errno, "rename " + fresh));
  return socket;
}

Result<void> UnixListener::renew() {
  TRY(make_folder_of(path_));
  struct stat ours{};
  const bool is_locked =
      ::fstat(lock_.get(), &ours) == 0 && file_at(path_ + ".lock") == FileId{ours.st_dev, ours.st_ino};
  Descriptor lock;
  if (!is_locked) lock = TRY(lock_at(path_));
  socket_ = TRY(listen_at(path_));
  if (lock) lock_ = std::move(lock);
  file_ = file_at(path_);
  return {};
}

void UnixListener::refuse() {
  if (is_at_path()) ::unlink(path_.c_str());
  socket_ = Descriptor();
}

std::optional<UnixListener::FileId> UnixListener::file_at(const std::string& path) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0) return std::nullopt;
  return FileId{there.st_dev, there.st_ino};
}

bool UnixListener::is_at_path() const {
  return file_.has_value() && file_at(path_) == file_;
}

UnixListener::~UnixListener() {
  // The lock file stays: otherwise two processes could lock two files of the same name.
  if (socket_ && is_at_path()) ::unlink(path_.c_str());
}

Result<std::optional<Connection>> UnixListener::accept() {
  for (;;) {
    Descriptor socket(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) return Connection(std::move(socket));
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return std::nullopt;
    return fail(system_error(errno, "accept " + path_));
  }
}

Waker::Waker() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Waker::wake() const {
  const uint64_t one = 1;
  // The write fails only on a full counter, which wakes, too.
  (void)!::write(event_.get(), &one, sizeof one);
}

void Waker::clear() const {
  uint64_t count;
  (void)!::read(event_.get(), &count, sizeof count);
}

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

Result<void> Poller::add(int fd, uint64_t key, Await what) {
  epoll_event event{};
  // The end is reported whatever is asked for; a client that has only finished writing has not gone.
  event.events = what == Await::kRead ? uint32_t{EPOLLIN} : what == Await::kWrite ? uint32_t{EPOLLOUT} : 0U;
  event.data.u64 = key;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  if (errno == EEXIST && ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return {};
  return fail(system_error(errno, "epoll_ctl"));
}

void Poller::remove(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

std::vector<uint64_t> Poller::wait(std::chrono::milliseconds most) {
  epoll_event events[64];
  const int count = ::epoll_wait(epoll_.get(), events, std::size(events), static_cast<int>(most.count()));
  std::vector<uint64_t> keys;
  for (int i = 0; i < count; ++i) {
    const uint64_t key = events[i].data.u64;  // a copy, because the structure is packed
    keys.push_back(key);
  }
  return keys;
}

}  // namespace railbed::os
