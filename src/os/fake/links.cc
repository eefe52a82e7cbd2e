// SPDX-License-Identifier: Apache-2.0
// The LinkPort of the fake kernel. Its messages are those of real_links.cc.
#include <algorithm>
#include <cerrno>

#include "os/fake/state.h"
#include "os/ports/link_text.h"

namespace railbed::os {
namespace {

constexpr int kMinMtu = 68;
constexpr int kMainTable = 254;
constexpr int kScopeLink = 253;
constexpr int kScopeUniverse = 0;

Error with_reason(int sys_errno, const std::string& what, std::string_view reason) {
  Error error = system_error(sys_errno, what);
  error.message += fmt::format(": {}", reason);
  return error;
}

// The name of a setting in FakePf::refused.
std::string setting_name(const std::string& words) {
  std::string first = words.substr(0, words.find(' '));
  return first == "min_tx_rate" ? "rate" : first;
}

void apply(const VfChange& change, VfInfo& vf) {
  if (change.mac) vf.mac = change.mac;
  if (change.vlan) {
    vf.vlan = change.vlan->id;
    vf.qos = change.vlan->qos;
    vf.proto = change.vlan->proto;
  }
  if (change.rate) {
    vf.min_tx_rate_mbps = change.rate->min_mbps;
    vf.max_tx_rate_mbps = change.rate->max_mbps;
  }
  if (change.spoof_check) vf.spoof_check = change.spoof_check;
  if (change.trust) vf.trust = change.trust;
  if (change.link_state) vf.link_state = change.link_state;
  if (change.node_guid) vf.node_guid = change.node_guid;
  if (change.port_guid) vf.port_guid = change.port_guid;
}

IpPrefix network_of(const IpPrefix& prefix) {
  return {prefix.network(), prefix.length};
}

class FakeLinks : public LinkPort {
 public:
  FakeLinks(std::shared_ptr<FakeState> state, NsId ns) : state_(std::move(state)), ns_(ns) {
    FakeNs& own = state_->namespaces[ns_];
    hold_ = own.ports.lock();
    if (!hold_) own.ports = hold_ = std::make_shared<NsHold>();
  }

  Result<std::vector<Link>> list(WithVfs vfs) override {
    auto lock = state_->look();
    std::vector<Link> links;
    for (const auto& [id, one] : state_->netdevs)
      if (one.ns == ns_) links.push_back(state_->link_shown(one, vfs));
    std::ranges::sort(links, {}, &Link::index);
    return links;
  }
  Result<Link> find(const IfName& name, WithVfs vfs) override {
    auto lock = state_->look();
    if (FakeNetdev* found = state_->netdev_by_name(ns_, name.value)) return state_->link_shown(*found, vfs);
    for (const auto& [id, one] : state_->netdevs)
      if (one.ns == ns_ && std::ranges::count(one.link.alt_names, name.value) > 0) return state_->link_shown(one, vfs);
    return fail(system_error(ENODEV, "RTM_GETLINK " + name.value));
  }
  Result<Link> find(IfIndex index, WithVfs vfs) override {
    auto lock = state_->look();
    if (FakeNetdev* found = state_->netdev_by_index(ns_, index)) return state_->link_shown(*found, vfs);
    return fail(system_error(ENODEV, fmt::format("RTM_GETLINK interface {}", index)));
  }

  Result<void> change(IfIndex index, const LinkChange& change) override {
    std::string text = name_of(index) + describe(change);
    std::string what = "RTM_NEWLINK " + text;
    return state_->change("link " + text + here(), what, [&]() -> Result<void> {
      FakeNetdev* netdev = state_->netdev_by_index(ns_, index);
      if (netdev == nullptr) return fail(system_error(ENODEV, what));
      NsId to = change.netns == nullptr ? ns_ : TRY(target(*change.netns, what));
      std::string name = change.name ? change.name->value : netdev->link.name.value;
      FakeNetdev* other = state_->netdev_by_name(to, name);
      if (other != nullptr && other != netdev) return fail(system_error(EEXIST, what));
      TRY(check_mtu(*netdev, change, what));
      if (to != netdev->ns || name != netdev->link.name.value) state_->move_netdev(*netdev, to, name);
      if (change.mtu) state_->set_mtu(*netdev, *change.mtu);
      if (change.mac) netdev->link.hw_address.assign(change.mac->bytes.begin(), change.mac->bytes.end());
      if (change.alias) netdev->link.alias = *change.alias;
      if (change.promiscuous) netdev->link.promiscuous = *change.promiscuous;
      if (change.all_multicast) netdev->link.all_multicast = *change.all_multicast;
      if (change.tx_queue) netdev->link.tx_queue = *change.tx_queue;
      if (change.master) TRY(set_master(*netdev, *change.master, what));
      if (change.arp_notify) set_arp_notify(*netdev, *change.arp_notify);
      if (change.up) state_->set_up(*netdev, *change.up);
      state_->show_netdev(*netdev);
      state_->link_changed(*netdev);
      return {};
    });
  }

  Result<void> change_vf(IfIndex pf, VfIndex vf, const VfChange& change) override {
    if (change.empty()) return {};
    std::string name = name_of(pf);
    auto parts = single_changes(change);
    std::string text = fmt::format("vf {} {}", name, vf);
    for (const auto& [words, one] : parts) text += " " + words;
    auto what = [&](const std::string& words) { return fmt::format("RTM_SETLINK {} vf {} {}", name, vf, words); };
    return state_->change(text, what(parts.front().first), [&]() -> Result<void> {
      FakeNetdev* netdev = state_->netdev_by_index(ns_, pf);
      if (netdev == nullptr) return fail(system_error(ENODEV, what(parts.front().first)));
      FakeDevice* owner = netdev->pci ? state_->device(*netdev->pci) : nullptr;
      if (owner == nullptr || owner->vf) return fail(system_error(EOPNOTSUPP, what(parts.front().first)));
      FakePfState& state = state_->pf_of(*owner);
      auto index = static_cast<size_t>(vf.value);
      if (index >= state.vfs.size()) return fail(system_error(EINVAL, what(parts.front().first)));
      for (const auto& [words, one] : parts) {
        if (state.config.refused.contains(setting_name(words))) return fail(system_error(EOPNOTSUPP, what(words)));
        apply(one, state.vfs[index]);
      }
      state_->link_changed(*netdev);
      return {};
    });
  }

  Result<void> create(const NewLink& link) override {
    std::string what = "RTM_NEWLINK " + describe(link);
    return state_->change("create " + describe(link) + here(), what, [&]() -> Result<void> {
      static const std::set<std::string> kKinds = {"macvlan", "ipvlan", "veth", "dummy", "bridge", "vrf"};
      if (!kKinds.contains(link.kind)) return fail(with_reason(EOPNOTSUPP, what, "Unknown device type"));
      NsId to = link.netns == nullptr ? ns_ : TRY(target(*link.netns, what));
      NsId peer_to = link.peer_netns == nullptr ? ns_ : TRY(target(*link.peer_netns, what));
      FakeNetdev* lower = state_->netdev_by_index(ns_, link.parent);
      if ((link.kind == "macvlan" || link.kind == "ipvlan") && lower == nullptr)
        return fail(system_error(ENODEV, what));
      std::string peer = link.peer_name ? link.peer_name->value : "veth0";
      if (state_->netdev_by_name(to, link.name.value) != nullptr ||
          (link.kind == "veth" && state_->netdev_by_name(peer_to, peer) != nullptr))
        return fail(system_error(EEXIST, what));
      FakeNetdev& made = state_->add_netdev(fresh(link, to, link.name));
      if (link.mac) made.link.hw_address.assign(link.mac->bytes.begin(), link.mac->bytes.end());
      if (lower != nullptr) {
        made.lower = lower->id;
        made.max_mtu = lower->link.mtu;
        if (!link.mtu) made.link.mtu = lower->link.mtu;
      }
      made.link.vrf_table = link.table;
      if (link.up) state_->set_up(made, true);
      if (link.kind == "veth") {
        FakeNetdev& other = state_->add_netdev(fresh(link, peer_to, IfName{peer}));
        other.peer = made.id;
        made.peer = other.id;
      }
      return {};
    });
  }

  Result<void> remove(IfIndex index) override {
    std::string what = "RTM_DELLINK " + name_of(index);
    return state_->change("remove " + name_of(index) + here(), what, [&]() -> Result<void> {
      FakeNetdev* netdev = state_->netdev_by_index(ns_, index);
      if (netdev == nullptr) return fail(system_error(ENODEV, what));
      if (netdev->link.kind.empty()) return fail(system_error(EOPNOTSUPP, what));
      state_->remove_netdev(netdev->id);
      return {};
    });
  }

  Result<void> remove_group(uint32_t group, std::span<const IfIndex>) override {
    if (group == 0) return fail(Code::kInvalid, "RTM_DELLINK group 0: that is every interface without a group");
    std::string what = fmt::format("RTM_DELLINK group {}", group);
    return state_->change(fmt::format("remove group {}{}", group, here()), what, [&]() -> Result<void> {
      std::vector<NetdevId> members;
      for (const auto& [id, one] : state_->netdevs)
        if (one.ns == ns_ && one.link.group == group) members.push_back(id);
      if (members.empty()) return fail(system_error(ENODEV, what));
      for (NetdevId member : members) state_->remove_netdev(member);
      return {};
    });
  }

  Result<std::vector<LinkAddress>> addresses() override {
    auto lock = state_->look();
    std::vector<LinkAddress> all;
    for (const auto& [id, one] : state_->netdevs)
      for (const IpPrefix& prefix : one.addresses)
        if (one.ns == ns_) all.push_back({one.link.index, prefix});
    return all;
  }
  Result<void> add_address(const LinkAddress& address) override {
    std::string text = fmt::format("{} {}", name_of(address.link), address.prefix);
    std::string what = "RTM_NEWADDR " + text;
    return state_->change("address add " + text + here(), what, [&]() -> Result<void> {
      FakeNetdev* netdev = state_->netdev_by_index(ns_, address.link);
      if (netdev == nullptr) return fail(system_error(ENODEV, what));
      if (std::ranges::count(netdev->addresses, address.prefix) > 0) return fail(system_error(EEXIST, what));
      netdev->addresses.push_back(address.prefix);
      return {};
    });
  }
  Result<void> remove_address(const LinkAddress& address) override {
    std::string text = fmt::format("{} {}", name_of(address.link), address.prefix);
    std::string what = "RTM_DELADDR " + text;
    return state_->change("address remove " + text + here(), what, [&]() -> Result<void> {
      FakeNetdev* netdev = state_->netdev_by_index(ns_, address.link);
      if (netdev == nullptr) return fail(system_error(ENODEV, what));
      if (std::erase(netdev->addresses, address.prefix) == 0) return fail(system_error(EADDRNOTAVAIL, what));
      return {};
    });
  }

  Result<std::vector<Route>> routes() override {
    std::vector<Route> all = TRY(all_routes());
    std::erase_if(all, [](const Route& route) { return route.table.value_or(kMainTable) != kMainTable; });
    return all;
  }
  // Includes the routes that the kernel adds for the addresses of interfaces that are up.
  Result<std::vector<Route>> all_routes() override {
    auto lock = state_->look();
    std::vector<Route> all;
    for (const auto& [id, one] : state_->netdevs) {
      if (one.ns != ns_) continue;
      const FakeNetdev* vrf = state_->netdev(one.master);
      for (const IpPrefix& prefix : one.addresses)
        if (one.link.up && prefix.length < prefix.address.bits() &&
            std::ranges::count(one.unrouted, network_of(prefix)) == 0) {
          Route route{.destination = network_of(prefix), .link = one.link.index};
          route.scope = kScopeLink;
          if (prefix.address.family == IpFamily::kV4) route.source = prefix.address;
          if (vrf != nullptr && vrf->link.vrf_table != 0) route.table = vrf->link.vrf_table;
          all.push_back(route);
        }
      for (Route route : one.routes) {
        route.link = one.link.index;
        all.push_back(route);
      }
    }
    return all;
  }
  Result<void> add_route(const Route& route) override {
    std::string text = fmt::format("{} {}", name_of(route.link), describe(route));
    std::string what = "RTM_NEWROUTE " + text;
    return state_->change("route add " + text + here(), what, [&]() -> Result<void> {
      FakeNetdev* netdev = state_->netdev_by_index(ns_, route.link);
      if (netdev == nullptr) return fail(system_error(ENODEV, what));
      if (!netdev->link.up) return fail(with_reason(ENETDOWN, what, "Device for nexthop is not up"));
      if (route.gateway && !reachable(*netdev, *route.gateway))
        return fail(with_reason(ENETUNREACH, what, "Nexthop has invalid gateway"));
      for (const auto& [id, one] : state_->netdevs)
        if (one.ns == ns_ && std::ranges::any_of(one.routes, [&](const Route& r) {
              return same_key(r, route) && r.gateway == route.gateway && one.link.index == route.link;
            }))
          return fail(system_error(EEXIST, what));
      // The kernel's own route counts as existing, unless somebody has removed it.
      if (is_own(*netdev, route)) {
        if (std::erase(netdev->unrouted, network_of(route.destination)) == 0) return fail(system_error(EEXIST, what));
        return {};
      }
      Route added = route;
      if (added.table == kMainTable) added.table.reset();
      added.destination = network_of(added.destination);
      if (!added.scope) added.scope = route.gateway ? kScopeUniverse : kScopeLink;
      netdev->routes.push_back(added);
      return {};
    });
  }
  Result<void> remove_route(const Route& route) override {
    std::string text = fmt::format("{} {}", name_of(route.link), describe(route));
    std::string what = "RTM_DELROUTE " + text;
    return state_->change("route remove " + text + here(), what, [&]() -> Result<void> {
      for (auto& [id, one] : state_->netdevs) {
        if (one.ns != ns_ || (route.link && one.link.index != route.link)) continue;
        auto found = std::ranges::find_if(one.routes, [&](const Route& r) {
          return same_key(r, route) && (!route.gateway || r.gateway == route.gateway);
        });
        if (found == one.routes.end() && is_own(one, route) &&
            std::ranges::count(one.unrouted, network_of(route.destination)) == 0) {
          one.unrouted.push_back(network_of(route.destination));
          return {};
        }
        if (found == one.routes.end()) continue;
        one.routes.erase(found);
        return {};
      }
      return fail(system_error(ESRCH, what));
    });
  }

  Result<Advertised> advertised() override {
    auto lock = state_->look();
    Advertised found;
    for (const auto& [id, one] : state_->netdevs) {
      if (one.ns != ns_) continue;
      for (const IpPrefix& prefix : one.advertised_addresses) found.addresses.push_back({one.link.index, prefix});
      for (Route route : one.advertised_routes) {
        route.link = one.link.index;
        found.routes.push_back(std::move(route));
      }
    }
    return found;
  }
  Result<std::vector<Rule>> rules() override {
    auto lock = state_->look();
    return state_->namespaces[ns_].rules;
  }
  Result<void> add_rule(const Rule& rule) override {
    std::string what = "RTM_NEWRULE " + describe(rule);
    return state_->change("rule add " + describe(rule) + here(), what, [&]() -> Result<void> {
      std::vector<Rule>& all = state_->namespaces[ns_].rules;
      if (std::ranges::count(all, rule) > 0) return fail(system_error(EEXIST, what));
      all.push_back(rule);
      return {};
    });
  }
  Result<void> remove_rule(const Rule& rule) override {
    std::string what = "RTM_DELRULE " + describe(rule);
    return state_->change("rule remove " + describe(rule) + here(), what, [&]() -> Result<void> {
      if (std::erase(state_->namespaces[ns_].rules, rule) == 0) return fail(system_error(ENOENT, what));
      return {};
    });
  }
  Result<NamespaceNumber> namespace_number() override {
    return NamespaceNumber{.number = static_cast<uint64_t>(ns_) + 1};
  }

  // As the kernel: on behind a step that fails.
  Result<void> carry_out(const std::vector<LinkStep>& steps, size_t& at) override {
    Result<void> first;
    for (size_t i = 0; i < steps.size(); ++i) {
      size_t none = 0;
      Result<void> done = LinkPort::carry_out({steps[i]}, none);
      if (done.has_value() || !first.has_value()) continue;
      first = std::move(done);
      at = i;
    }
    return first;
  }

 private:
  // As in vrf's cycle_netdev(): a port that is up goes down and up again and loses its routes and, unless they are
  // kept, its IPv6 addresses.
  Result<void> set_master(FakeNetdev& port, IfIndex master, const std::string& what) {
    FakeNetdev* to = master ? state_->netdev_by_index(ns_, master) : nullptr;
    if (master && to == nullptr) return fail(system_error(ENODEV, what));
    NetdevId id = to == nullptr ? 0 : to->id;
    if (port.master == id) return {};
    port.master = id;
    if (!port.link.up) return {};
    port.routes.clear();
    port.unrouted.clear();
    const auto& sysctls = state_->namespaces[ns_].sysctls;
    auto kept = sysctls.find(fmt::format("net/ipv6/conf/{}/keep_addr_on_down", port.link.name));
    if (kept == sysctls.end() || kept->second != "1")
      std::erase_if(port.addresses, [](const IpPrefix& one) { return one.address.family == IpFamily::kV6; });
    return {};
  }
  // A sysctl of the namespace: one that is 0 is not stored (netns.cc).
  void set_arp_notify(const FakeNetdev& netdev, bool on) {
    const std::string key = fmt::format("net/ipv4/conf/{}/arp_notify", netdev.link.name);
    auto& sysctls = state_->namespaces[ns_].sysctls;
    if (on)
      sysctls[key] = "1";
    else
      sysctls.erase(key);
  }
  // Whether the kernel made this route for an address of the interface.
  static bool is_own(const FakeNetdev& netdev, const Route& route) {
    return netdev.link.up && !route.gateway && !route.is_default() && netdev.master == 0 &&
           route.table.value_or(kMainTable) == kMainTable &&
           std::ranges::any_of(netdev.addresses, [&](const IpPrefix& prefix) {
             return prefix.length < prefix.address.bits() && network_of(prefix) == network_of(route.destination);
           });
  }
  std::string name_of(IfIndex index) {
    auto lock = state_->look();
    FakeNetdev* found = state_->netdev_by_index(ns_, index);
    return found == nullptr ? fmt::format("interface {}", index) : found->link.name.value;
  }
  // For the journal: names the namespace unless it is the initial one.
  std::string here() {
    auto lock = state_->look();
    return ns_ == kInitialNs ? "" : fmt::format(" (inside {})", state_->namespaces[ns_].name);
  }
  Result<NsId> target(const Netns& netns, const std::string& what) {
    auto found = state_->open_netns.find(netns.fd());
    if (found == state_->open_netns.end() || state_->namespaces[found->second].gone)
      return fail(system_error(EINVAL, what));
    return found->second;
  }
  static Result<void> check_mtu(const FakeNetdev& netdev, const LinkChange& change, const std::string& what) {
    if (change.mtu && *change.mtu < kMinMtu) return fail(with_reason(EINVAL, what, "mtu less than device minimum"));
    if (change.mtu && *change.mtu > netdev.max_mtu)
      return fail(with_reason(EINVAL, what, "mtu greater than device maximum"));
    return {};
  }
  FakeNetdev fresh(const NewLink& link, NsId to, const IfName& name) {
    FakeNetdev made{.ns = to};
    made.link.name = name;
    made.link.kind = link.kind;
    made.link.mtu = link.mtu.value_or(1500);
    made.link.group = link.group;
    made.link.hw_address = {6, 0, 0, 0, static_cast<uint8_t>(to), static_cast<uint8_t>(state_->netdevs.size())};
    return made;
  }
  static bool reachable(const FakeNetdev& netdev, const IpAddress& gateway) {
    if (gateway.family == IpFamily::kV6 && gateway.to_gid().is_link_local()) return true;
    return std::ranges::any_of(netdev.addresses, [&](const IpPrefix& p) { return p.contains(gateway); }) ||
           std::ranges::any_of(netdev.routes, [&](const Route& r) {
             return !r.gateway && !r.is_default() && r.destination.contains(gateway);
           });
  }
  static bool same_key(const Route& a, const Route& b) {
    return network_of(a.destination) == network_of(b.destination) && a.metric.value_or(0) == b.metric.value_or(0) &&
           a.table.value_or(254) == b.table.value_or(254);
  }

  std::shared_ptr<FakeState> state_;
  NsId ns_;
  std::shared_ptr<NsHold> hold_;
};

}  // namespace

std::unique_ptr<LinkPort> fake_links(std::shared_ptr<FakeState> state, NsId ns) {
  return std::make_unique<FakeLinks>(std::move(state), ns);
}

}  // namespace railbed::os
