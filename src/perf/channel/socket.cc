// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/socket.h"

#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/command.h"
#include "perf/channel/socket_address.h"

namespace railbed::perf {
namespace {

// Waits until `events` is possible. Errors of the socket itself appear in the following call.
Result<void> wait_for(int fd, short events, Deadline deadline, std::string_view what) {
  for (;;) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = deadline.poll({&entry, 1});
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail(system_error(errno, "poll"));
    if (ready == 0) return fail(Code::kTimeout, "no {} the peer in time", what);
  }
}

Error closed_by_peer(int error) {
  if (error == 0 || error == ECONNRESET || error == EPIPE)
    return {.code = Code::kCanceled,
            .sys_errno = error,
            .message = "the peer closed the connection",
            .context = {},
            .hint = ""};
  return system_error(error, "TCP connection");
}

std::string connect_hint(int error, const std::string& host, uint16_t port) {
  if (error == ECONNREFUSED)
    return fmt::format("check that `railbed perf serve` is running on {} with port {}", host, port);
  if (error == ENETUNREACH || error == EHOSTUNREACH)
    return fmt::format("`{}` shows the route; check that the interface is up and the pod attached",
                       Command{"ip", "route", "get"}.value(host));
  return "";
}

Result<Socket> connect_one(const sockaddr* where, socklen_t size, Deadline deadline,
                           const std::optional<SocketAddress>& from) {
  Socket socket(::socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd() < 0) return fail(system_error(errno, "socket"));
  if (from && bind(socket.fd(), from->raw(), from->size) != 0)
    return fail(system_error(errno, "bind to " + address_of(from->storage).to_string()));
  if (::connect(socket.fd(), where, size) == 0) return socket;
  if (errno != EINPROGRESS) return fail(system_error(errno, "connect"));
  TRY(wait_for(socket.fd(), POLLOUT, deadline, "answer from"));
  int error = 0;
  socklen_t error_size = sizeof(error);
  getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &error_size);
  if (error != 0) return fail(system_error(error, "connect"));
  return socket;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Socket> Socket::connect(const std::string& host, uint16_t port, Deadline deadline,
                               const std::optional<IpAddress>& from) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  std::optional<SocketAddress> local;
  if (from) {
    local = socket_address(*from, 0);
    wanted.ai_family = local->storage.ss_family;
  }
  addrinfo* list = nullptr;
  const int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
  if (status != 0) return fail(Code::kNotFound, "{}: {}", host, gai_strerror(status));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  Result<Socket> socket = fail(Code::kNotFound, "{}: no address", host);
  for (const addrinfo* where = list; where != nullptr; where = where->ai_next) {
    socket = connect_one(where->ai_addr, where->ai_addrlen, deadline, local);
    if (socket) return socket;
  }
  std::string hint = connect_hint(socket.error().sys_errno, host, port);
  return std::move(socket).context("connecting to {} port {}", host, port).hint(std::move(hint));
}

Result<Socket> Socket::connect_like(const Socket& other, uint16_t port, Deadline deadline) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getpeername(other.fd_, reinterpret_cast<sockaddr*>(&storage), &size) != 0)
    return fail(system_error(errno, "getpeername"));
  reinterpret_cast<sockaddr_in&>(storage).sin_port = htons(port);  // same offset in both families
  SocketAddress local{.size = sizeof(sockaddr_storage)};
  if (getsockname(other.fd_, reinterpret_cast<sockaddr*>(&local.storage), &local.size) != 0)
    return fail(system_error(errno, "getsockname"));
  reinterpret_cast<sockaddr_in&>(local.storage).sin_port = 0;
  return connect_one(reinterpret_cast<const sockaddr*>(&storage), size, deadline, local)
      .context("connecting to {} port {}", address_of(storage), port);
}

Result<size_t> Socket::read_now(std::span<std::byte> into) {
  const ssize_t count = recv(fd_, into.data(), into.size(), 0);
  if (count > 0) return static_cast<size_t>(count);
  if (count == 0 && !into.empty()) return fail(closed_by_peer(0));
  if (count < 0 && errno != EAGAIN && errno != EINTR) return fail(closed_by_peer(errno));
  return 0;
}

Result<size_t> Socket::write_now(std::span<const std::byte> bytes) {
  const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return static_cast<size_t>(count);
  if (errno != EAGAIN && errno != EINTR) return fail(closed_by_peer(errno));
  return 0;
}

Result<void> Socket::write_all(std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const size_t count = TRY(write_now(bytes));
    bytes = bytes.subspan(count);
    if (count == 0) TRY(wait_for(fd_, POLLOUT, deadline, "room for data to"));
  }
  return {};
}

Result<size_t> Socket::read_some(std::span<std::byte> into, Deadline deadline) {
  for (;;) {
    const size_t count = TRY(read_now(into));
    if (count > 0) return count;
    TRY(wait_for(fd_, POLLIN, deadline, "word from"));
  }
}

Result<void> Socket::read_all(std::span<std::byte> into, Deadline deadline) {
  while (!into.empty()) into = into.subspan(TRY(read_some(into, deadline)));
  return {};
}

void Socket::shut_down() const {
  ::shutdown(fd_, SHUT_RDWR);
}

Result<void> Socket::set_no_delay() const {
  const int on = 1;
  if (setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
    return fail(system_error(errno, "setsockopt TCP_NODELAY"));
  return {};
}

Result<void> Socket::set_blocking(std::chrono::milliseconds patience) const {
  const int flags = fcntl(fd_, F_GETFL);
  if (flags < 0 || fcntl(fd_, F_SETFL, flags & ~O_NONBLOCK) != 0) return fail(system_error(errno, "fcntl"));
  const timeval time{.tv_sec = patience.count() / 1000, .tv_usec = patience.count() % 1000 * 1000};
  for (int option : {SO_RCVTIMEO, SO_SNDTIMEO})
    if (setsockopt(fd_, SOL_SOCKET, option, &time, sizeof(time)) != 0)
      return fail(system_error(errno, "setsockopt timeout"));
  return {};
}

Result<void> Socket::set_keepalive() const {
  const struct {
    int level, name, value;
  } options[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                 {IPPROTO_TCP, TCP_KEEPIDLE, 4},
                 {IPPROTO_TCP, TCP_KEEPINTVL, 2},
                 {IPPROTO_TCP, TCP_KEEPCNT, 4},
                 {IPPROTO_TCP, TCP_USER_TIMEOUT, 12000}};
  for (const auto& option : options)
    if (setsockopt(fd_, option.level, option.name, &option.value, sizeof(option.value)) != 0)
      return fail(system_error(errno, "setsockopt keepalive"));
  return {};
}

Result<IpAddress> Socket::local_address() const {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&storage), &size) != 0)
    return fail(system_error(errno, "getsockname"));
  return address_of(storage);
}

Result<IpAddress> Socket::peer_address() const {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getpeername(fd_, reinterpret_cast<sockaddr*>(&storage), &size) != 0)
    return fail(system_error(errno, "getpeername"));
  return address_of(storage);
}

Result<uint16_t> Socket::local_port() const {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&storage), &size) != 0)
    return fail(system_error(errno, "getsockname"));
  return port_of(storage);
}

Result<Listener> Listener::open(const std::optional<IpAddress>& address, uint16_t port) {
  const auto [storage, size] = socket_address(address.value_or(IpAddress{.family = IpFamily::kV6}), port);
  const std::string what =
      fmt::format("listening on {} port {}", address ? address->to_string() : "all addresses", port);
  Socket socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd() < 0 && errno == EAFNOSUPPORT && !address) return open(IpAddress{}, port);  // 0.0.0.0 without IPv6
  if (socket.fd() < 0) return fail(system_error(errno, what));
  const int on = 1;
  const int off = 0;
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (!address) setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(socket.fd(), reinterpret_cast<const sockaddr*>(&storage), size) != 0 || listen(socket.fd(), 64) != 0) {
    Error error = system_error(errno, what);
    if (error.sys_errno == EADDRINUSE) error.hint = "another server is running on it; choose another --port";
    if (error.sys_errno == EADDRNOTAVAIL) error.hint = "--bind takes an address of this machine (or network namespace)";
    return fail(std::move(error));
  }
  const uint16_t bound = TRY(socket.local_port());
  return Listener(std::move(socket), bound);
}

Result<Listener> Listener::open_like(const Socket& other, uint16_t port) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getsockname(other.fd(), reinterpret_cast<sockaddr*>(&storage), &size) != 0)
    return fail(system_error(errno, "getsockname"));
  reinterpret_cast<sockaddr_in&>(storage).sin_port = htons(port);
  Socket socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd() < 0) return fail(system_error(errno, "socket"));
  const int on = 1;
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(socket.fd(), reinterpret_cast<sockaddr*>(&storage), size) != 0 || listen(socket.fd(), 512) != 0)
    return fail(system_error(errno, fmt::format("listening on {} port {} for data", address_of(storage), port)));
  const uint16_t bound = TRY(socket.local_port());
  return Listener(std::move(socket), bound);
}

Result<Socket> Listener::accept(Deadline deadline) {
  for (;;) {
    Socket socket(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.fd() >= 0) return socket;
    // These errors belong to a connection that has already ended (accept(2)).
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED && errno != EPROTO)
      return fail(system_error(errno, "accept"));
    TRY(wait_for(socket_.fd(), POLLIN, deadline, "connection from"));
  }
}

}  // namespace railbed::perf
