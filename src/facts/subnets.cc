// SPDX-License-Identifier: Apache-2.0
#include "facts/subnets.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

namespace railbed::facts {
namespace {

// Every interface of the facts that has a place in a subnet of its own.
template <typename Facts, typename Visit>
void each_own_interface(Facts& facts, const Visit& visit) {
  for (auto& nic : facts.nics) {
    for (auto& netdev : nic.netdevs) visit(netdev);
    for (auto& vf : nic.vfs)
      if (vf.netdev) visit(*vf.netdev);
  }
  for (auto& netdev : facts.virtual_netdevs)
    if (netdev.kind == "bond" || netdev.kind == "vlan") visit(netdev);
}

bool is_in_a_subnet(const IpPrefix& prefix) {
  const bool is_v6 = prefix.address.family == IpFamily::kV6;
  if (is_v6 && prefix.address.to_gid().is_link_local()) return false;
  return prefix.length > 0 && prefix.length < (is_v6 ? 127 : 31);
}

// Each of the two takes the other for a neighbour.
bool are_neighbours(const IpPrefix& one, const IpPrefix& other) {
  return one.address.family == other.address.family && one.contains(other.address) && other.contains(one.address);
}

// Interfaces of a VRF have routing tables of their own; those of a bond or a bridge have no addresses.
bool can_meet(const NetInterface& one, const NetInterface& other) {
  return one.name != other.name && one.master == other.master;
}

std::optional<int> stricter(Attributes& attributes, const std::string& interface, std::string_view key) {
  const auto of = [&](std::string_view name) {
    return attributes.small_number(fmt::format("/proc/sys/net/ipv4/conf/{}/{}", name, key));
  };
  const std::optional<int> own = of(interface);
  const std::optional<int> all = of("all");
  if (!own || !all) return own ? own : all;
  return std::max(*own, *all);
}

}  // namespace

std::vector<SharedSubnet> shared_subnets(const NodeFacts& facts) {
  std::vector<SharedSubnet> subnets;
  each_own_interface(facts, [&](const NetInterface& netdev) {
    if (netdev.admin_up == false) return;
    for (const IpPrefix& address : netdev.addresses) {
      if (!is_in_a_subnet(address)) continue;
      const auto meets = [&](const SubnetMember& member) {
        return are_neighbours(member.address, address) && can_meet(*member.netdev, netdev);
      };
      const auto known = std::ranges::find_if(
          subnets, [&](const SharedSubnet& subnet) { return std::ranges::any_of(subnet.members, meets); });
      if (known == subnets.end()) {
        subnets.push_back({.network = {address.network(), address.length}, .members = {{&netdev, address}}});
      } else if (std::ranges::find(known->members, &netdev, &SubnetMember::netdev) == known->members.end()) {
        known->members.push_back({&netdev, address});
      }
    }
  });
  std::erase_if(subnets, [](const SharedSubnet& subnet) { return subnet.members.size() < 2; });
  return subnets;
}

bool is_kept_apart(const NetInterface& netdev, IpFamily family) {
  if (!netdev.arp) return false;
  const ArpSettings& arp = *netdev.arp;
  const bool has_rule = arp.source_rule.value_or(false);
  if (family == IpFamily::kV6) return has_rule;  // neighbour discovery answers for the interface's own addresses anyway
  const bool answers_for_itself = arp.ignore.value_or(0) >= 1 && arp.announce.value_or(0) >= 2;
  const bool answers_by_route = arp.filter.value_or(0) >= 1 && has_rule;
  return (answers_for_itself || answers_by_route) && (arp.rp_filter.value_or(0) != 1 || has_rule);
}

void read_arp_settings(Attributes& attributes, os::LinkPort* links, NodeFacts& facts) {
  std::set<std::string> names;
  for (const SharedSubnet& subnet : shared_subnets(facts))
    for (const SubnetMember& member : subnet.members) names.insert(member.netdev->name);
  if (names.empty()) return;
  std::optional<std::vector<os::Rule>> rules;
  if (links != nullptr)
    if (auto listed = links->rules()) rules = std::move(*listed);
  each_own_interface(facts, [&](NetInterface& netdev) {
    if (!names.contains(netdev.name)) return;
    ArpSettings arp{.ignore = stricter(attributes, netdev.name, "arp_ignore"),
                    .announce = stricter(attributes, netdev.name, "arp_announce"),
                    .filter = stricter(attributes, netdev.name, "arp_filter"),
                    .rp_filter = stricter(attributes, netdev.name, "rp_filter"),
                    .source_rule = std::nullopt};
    if (rules)
      arp.source_rule = std::ranges::any_of(*rules, [&](const os::Rule& rule) {
        return rule.source.length > 0 && std::ranges::any_of(netdev.addresses, [&](const IpPrefix& address) {
                 return rule.source.contains(address.address);
               });
      });
    if (arp != ArpSettings{}) netdev.arp = arp;
  });
}

}  // namespace railbed::facts
