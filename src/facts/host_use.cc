// SPDX-License-Identifier: Apache-2.0
#include "facts/host_use.h"

namespace railbed::facts {

std::string host_use(const Nic& nic, const NodeFacts& node) {
  std::vector<std::string> uses;
  for (const NetInterface& netdev : nic.netdevs) {
    for (const IpPrefix& address : netdev.addresses)
      if (!(address.address.family == IpFamily::kV6 && address.address.to_gid().is_link_local()))
        uses.push_back("address " + address.to_string());
    if (netdev.has_default_route) uses.emplace_back("default route");
    if (!netdev.master.empty()) uses.push_back("port of " + netdev.master);
    for (const NetInterface& upper : node.virtual_netdevs)
      if (upper.lower == netdev.name)
        uses.push_back(fmt::format("carries {} {}", upper.kind.empty() ? "interface" : upper.kind, upper.name));
  }
  return fmt::format("{}", fmt::join(uses, ", "));
}

}  // namespace railbed::facts
