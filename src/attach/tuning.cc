// SPDX-License-Identifier: Apache-2.0
// Type tuning, chained: MAC, MTU and sysctls of the interface that the main plugin made.
//
// Keys: mac, mtu, sysctl. Sysctls of the interface (…IFNAME…) end with it; others stay in the pod's
// namespace.
#include <algorithm>

#include "attach/types.h"

namespace railbed::attach {
namespace {

// "net.ipv4.conf.IFNAME.arp_filter" → "net/ipv4/conf/net1/arp_filter". Interface names may have dots, so the
// name goes in last; a key that is spelled with slashes stays as it is.
std::string sysctl_path(std::string key, const std::string& interface) {
  if (key.find('/') == std::string::npos) std::ranges::replace(key, '.', '/');
  if (size_t place = key.find("IFNAME"); place != std::string::npos) key.replace(place, 6, interface);
  return key;
}

}  // namespace

Result<void> read_tuning(const Keys& keys, const InterfaceWanted&, Wish& wish) {
  for (const char* key : {"promisc", "allmulti", "txQLen"})
    if (keys.has(key))
      return fail(keys.unsupported(fmt::format("{} is not supported; mac, mtu and sysctl are", key)));
  if (auto mac = TRY(keys.mac("mac"))) wish.mac = mac;
  if (auto mtu = TRY(keys.number("mtu", 68, 65535))) wish.mtu = mtu;
  const doc::Value* sysctls = keys.value("sysctl");
  if (sysctls == nullptr || sysctls->is_null()) return {};
  if (!sysctls->is_object()) return fail(keys.invalid("sysctl must be an object of strings"));
  for (const doc::Value::Member& member : *sysctls->as_object()) {
    std::string path = sysctl_path(member.key, wish.interface);
    const std::string* value = member.value.as_string();
    if (value == nullptr) return fail(keys.invalid(fmt::format("sysctl {} must be a string", member.key)));
    if (!path.starts_with("net/") || path.find("..") != std::string::npos)
      return fail(keys.invalid(fmt::format("sysctl {} is none of a network namespace (net.…)", member.key)));
    wish.sysctls.emplace_back(path, *value);
  }
  return {};
}

}  // namespace railbed::attach
