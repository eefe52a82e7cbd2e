// SPDX-License-Identifier: Apache-2.0
// Addresses in the format of the kernel's socket calls and of the RDMA connection manager.
//
// Why: TCP and rdma-cm use the same format.
// Threading: plain values.
// Failure: NotFound for a name without an address.
// Source: ip(7), ipv6(7), getaddrinfo(3).
#pragma once

#include <cstdint>
#include <string>

#include <sys/socket.h>

#include "base/error.h"
#include "base/ip.h"

namespace railbed::perf {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;  // of the part that is used
  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress socket_address(const IpAddress& address, uint16_t port);
// An IPv4 address within IPv6 becomes one of IPv4.
IpAddress address_of(const sockaddr_storage& storage);
// The first address of `host`, which is an address or a name.
Result<IpAddress> first_address_of(const std::string& host);
// In the byte order of this machine.
uint16_t port_of(const sockaddr_storage& storage);

}  // namespace railbed::perf
