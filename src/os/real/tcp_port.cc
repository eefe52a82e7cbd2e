// SPDX-License-Identifier: Apache-2.0
#include "os/real/tcp_port.h"

#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

namespace railbed::os {
namespace {

constexpr int kTcpBacklog = 64;

// The port of an IPv4 and of an IPv6 address is at the same place.
uint16_t port_of(int fd) {
  sockaddr_in6 bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  static_assert(offsetof(sockaddr_in6, sin6_port) == offsetof(sockaddr_in, sin_port));
  return ntohs(bound.sin6_port);
}

}  // namespace

Result<TcpListener> TcpListener::open(const IpAddress& address, uint16_t port) {
  const bool v4 = address.family == IpFamily::kV4;
  Descriptor socket(::socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(system_error(errno, "socket"));
  // A port is free while its last connections are closing.
  const int on = 1;
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in in4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(port);
  std::memcpy(v4 ? static_cast<void*>(&in4.sin_addr) : &in6.sin6_addr, address.bytes.data(), v4 ? 4 : 16);
  const auto* where = v4 ? reinterpret_cast<const sockaddr*>(&in4) : reinterpret_cast<const sockaddr*>(&in6);
  if (::bind(socket.get(), where, v4 ? sizeof in4 : sizeof in6) != 0) return fail(system_error(errno, "bind"));
  if (::listen(socket.get(), kTcpBacklog) != 0) return fail(system_error(errno, "listen"));
  const uint16_t bound = port_of(socket.get());
  return TcpListener(std::move(socket), bound);
}

Result<std::optional<Connection>> TcpListener::accept() {
  for (;;) {
    Descriptor socket(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) return Connection(std::move(socket));
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return std::nullopt;
    return fail(system_error(errno, "accept"));
  }
}

}  // namespace railbed::os
