// SPDX-License-Identifier: Apache-2.0
#include "os/real/tcp_port.h"

#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

#include "os/real/descriptor.h"

namespace railbed::os {

Result<void> can_listen(const IpAddress& address, uint16_t port) {
  const bool v4 = address.family == IpFamily::kV4;
  Descriptor socket(::socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(system_error(errno, "socket"));
  // As the HTTP library does: a port counts as free while its last connections are closing.
  const int on = 1;
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in in4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(port);
  std::memcpy(v4 ? static_cast<void*>(&in4.sin_addr) : &in6.sin6_addr, address.bytes.data(), v4 ? 4 : 16);
  const auto* where = v4 ? reinterpret_cast<const sockaddr*>(&in4) : reinterpret_cast<const sockaddr*>(&in6);
  if (::bind(socket.get(), where, v4 ? sizeof in4 : sizeof in6) != 0) return fail(system_error(errno, "bind"));
  if (::listen(socket.get(), 1) != 0) return fail(system_error(errno, "listen"));
  return {};
}

}  // namespace railbed::os
