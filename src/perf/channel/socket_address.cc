// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/socket_address.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <netdb.h>
#include <netinet/in.h>

namespace railbed::perf {

SocketAddress socket_address(const IpAddress& address, uint16_t port) {
  SocketAddress result;
  if (address.family == IpFamily::kV4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(result.storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data(), 4);
    result.size = sizeof(sockaddr_in);
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(result.storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), 16);
    result.size = sizeof(sockaddr_in6);
  }
  return result;
}

IpAddress address_of(const sockaddr_storage& storage) {
  IpAddress address;
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    std::memcpy(address.bytes.data(), &v4.sin_addr, 4);
    return address;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    std::memcpy(address.bytes.data(), v6.sin6_addr.s6_addr + 12, 4);
    return address;
  }
  address.family = IpFamily::kV6;
  std::memcpy(address.bytes.data(), &v6.sin6_addr, 16);
  return address;
}

Result<IpAddress> first_address_of(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int status = getaddrinfo(host.c_str(), nullptr, &wanted, &list);
  if (status != 0) return fail(Code::kNotFound, "{}: {}", host, gai_strerror(status));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  if (list == nullptr) return fail(Code::kNotFound, "{}: no address", host);
  sockaddr_storage storage{};
  std::memcpy(&storage, list->ai_addr, std::min<size_t>(list->ai_addrlen, sizeof(storage)));
  return address_of(storage);
}

uint16_t port_of(const sockaddr_storage& storage) {
  return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);  // the same offset in both families
}

}  // namespace railbed::perf
