// SPDX-License-Identifier: Apache-2.0
#include "os/real/service_manager.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace railbed::os {
namespace {

// A path, or "@name" of the abstract namespace.
struct Address {
  sockaddr_un address{};
  socklen_t size = 0;

  explicit Address(const std::string& name) {
    if (name.empty() || name.size() >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (name[0] == '@')
      address.sun_path[0] = '\0';
    else
      ++size;
  }
};

Descriptor datagram_socket() {
  return Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Not connected: journald that restarts re-creates its socket.
bool send_to(const Descriptor& socket, const std::string& name, std::string_view text) {
  const Address to(name);
  if (!socket || to.size == 0) return false;
  ssize_t sent;
  do
    sent = ::sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                    reinterpret_cast<const sockaddr*>(&to.address), to.size);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(text.size());
}

// SIGPIPE of a write in this thread is taken back; other threads and the process' handling of it stay as they are.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    while (::sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

// Of a pipe that poll() calls writable, so many bytes can be written.
constexpr size_t kAtOnce = PIPE_BUF;

ssize_t put(int fd, std::string_view text) {
  const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(fd, text.data(), std::min(text.size(), kAtOnce));
}

}  // namespace

std::string journal_entry(std::span<const JournalField> fields) {
  std::string entry;
  for (const auto& [name, value] : fields) {
    entry += name;
    if (value.find('\n') == std::string_view::npos) {
      entry += '=';
    } else {
      entry += '\n';
      for (int byte = 0; byte < 8; ++byte) entry += static_cast<char>(uint64_t{value.size()} >> 8 * byte & 0xff);
    }
    entry += value;
    entry += '\n';
  }
  return entry;
}

std::optional<Journal> Journal::of_standard_error(std::string_view stream, const std::string& socket) {
  uint64_t device = 0;
  uint64_t inode = 0;
  const char* end = stream.data() + stream.size();
  const auto [colon, no_device] = std::from_chars(stream.data(), end, device);
  if (no_device != std::errc{} || colon == end || *colon != ':') return std::nullopt;
  const auto [rest, no_inode] = std::from_chars(colon + 1, end, inode);
  if (no_inode != std::errc{} || rest != end) return std::nullopt;
  struct stat now{};
  if (::fstat(STDERR_FILENO, &now) != 0 || now.st_dev != device || now.st_ino != inode) return std::nullopt;
  Descriptor descriptor = datagram_socket();
  if (!descriptor) return std::nullopt;
  return Journal(std::move(descriptor), socket);
}

bool Journal::send(std::span<const JournalField> fields) const {
  return send_to(descriptor_, socket_, journal_entry(fields));
}

bool notify_manager(const std::string& socket, std::string_view state) {
  return send_to(datagram_socket(), socket, state);
}

bool write_without_waiting(int fd, std::string_view text) {
  const WithoutSigpipe guard;
  while (!text.empty()) {
    const ssize_t written = put(fd, text);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void open_standard_descriptors() {
  // open() takes the lowest free number, so the loop fills the gaps in their order.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)!::open("/dev/null", O_RDWR);
}

}  // namespace railbed::os
