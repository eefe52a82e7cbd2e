// SPDX-License-Identifier: Apache-2.0
#include "attach/advertisements.h"

#include <algorithm>
#include <array>

namespace railbed::attach {
namespace {

constexpr std::array kKeys = {"accept_ra", "autoconf"};
constexpr int kLeastIpv6Mtu = 1280;  // IPV6_MIN_MTU

std::string key_of(std::string_view interface, std::string_view key) {
  return fmt::format("net/ipv6/conf/{}/{}", interface, key);
}

bool names(const os::Sysctls& sysctls, const std::string& key) {
  return std::ranges::any_of(sysctls, [&](const auto& sysctl) { return sysctl.first == key; });
}

}  // namespace

os::Sysctls without_advertisements(const InterfaceSpec& spec) {
  os::Sysctls off;
  if (!spec.addresses_are_assigned) return off;
  for (const char* key : kKeys)
    if (const std::string path = key_of(spec.interface, key); !names(spec.sysctls, path)) off.emplace_back(path, "0");
  return off;
}

bool begins_ipv6(int mtu_now, std::optional<int> mtu_wanted) {
  return mtu_now < kLeastIpv6Mtu && mtu_wanted.value_or(0) >= kLeastIpv6Mtu;
}

bool names_advertisements(const os::Sysctls& sysctls, std::string_view interface) {
  return std::ranges::any_of(kKeys, [&](const char* key) { return names(sysctls, key_of(interface, key)); });
}

}  // namespace railbed::attach
