// SPDX-License-Identifier: Apache-2.0
#include "perf/local_network.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace railbed::perf {

Result<LocalNetwork> read_local_network() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return fail(system_error(errno, "getifaddrs"));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  LocalNetwork network;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const IfName name{entry->ifa_name};
    const IfIndex index{static_cast<int>(if_nametoindex(entry->ifa_name))};
    if (entry->ifa_addr->sa_family == AF_PACKET) {
      // sll_addr has 8 bytes in the header, but glibc stores all 20 of an IPoIB address (MAX_ADDR_LEN).
      const auto* link = reinterpret_cast<const sockaddr_ll*>(entry->ifa_addr);
      LocalInterface interface{
          .index = index, .name = name, .hardware_address = {}, .is_up = (entry->ifa_flags & IFF_RUNNING) != 0};
      const auto* bytes = reinterpret_cast<const uint8_t*>(link) + offsetof(sockaddr_ll, sll_addr);
      interface.hardware_address.assign(bytes, bytes + std::min<size_t>(link->sll_halen, 20));
      network.interfaces.push_back(std::move(interface));
    } else if (entry->ifa_addr->sa_family == AF_INET) {
      LocalAddress local{.index = index, .name = name, .address = {}};
      std::memcpy(local.address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr, 4);
      network.addresses.push_back(std::move(local));
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      LocalAddress local{.index = index, .name = name, .address = {.family = IpFamily::kV6, .bytes = {}}};
      std::memcpy(local.address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr, 16);
      network.addresses.push_back(std::move(local));
    }
  }
  return network;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

const LocalInterface* interface_of(const LocalNetwork& network, const IpAddress& address) {
  for (const LocalAddress& local : network.addresses)
    if (local.address == address)
      for (const LocalInterface& interface : network.interfaces)
        if (interface.index == local.index) return &interface;
  return nullptr;
}

}  // namespace railbed::perf
