// SPDX-License-Identifier: Apache-2.0
#include "os/ports/link_text.h"

#include <algorithm>

#include "os/ports/netns.h"

namespace railbed::os {

std::optional<MacAddress> Link::mac() const {
  MacAddress mac;
  if (hw_address.size() != mac.bytes.size()) return std::nullopt;
  std::copy(hw_address.begin(), hw_address.end(), mac.bytes.begin());
  return mac;
}

Result<void> LinkPort::carry_out(const std::vector<LinkStep>& steps, size_t& at) {
  struct One {
    LinkPort& port;
    Result<void> operator()(const NewLink& link) const { return port.create(link); }
    Result<void> operator()(const LinkSetting& one) const { return port.change(one.link, one.change); }
    Result<void> operator()(const LinkAddress& address) const { return port.add_address(address); }
    Result<void> operator()(const Route& route) const { return port.add_route(route); }
  };
  for (at = 0; at < steps.size(); ++at) TRY(std::visit(One{*this}, steps[at]));
  return {};
}

std::vector<std::pair<std::string, VfChange>> single_changes(const VfChange& change) {
  std::vector<std::pair<std::string, VfChange>> parts;
  auto add = [&](auto member, std::string name) {
    if (!(change.*member)) return;
    VfChange one;
    one.*member = change.*member;
    parts.emplace_back(std::move(name), one);
  };
  constexpr const char* kStates[] = {"auto", "enable", "disable"};
  if (change.mac) add(&VfChange::mac, fmt::format("mac {}", *change.mac));
  if (change.vlan)
    add(&VfChange::vlan, fmt::format("vlan {} qos {} proto {}", change.vlan->id, change.vlan->qos,
                                     change.vlan->proto == VlanProto::k8021q ? "802.1Q" : "802.1ad"));
  if (change.rate)
    add(&VfChange::rate, fmt::format("min_tx_rate {} max_tx_rate {}", change.rate->min_mbps, change.rate->max_mbps));
  if (change.spoof_check) add(&VfChange::spoof_check, fmt::format("spoofchk {}", *change.spoof_check ? "on" : "off"));
  if (change.trust) add(&VfChange::trust, fmt::format("trust {}", *change.trust ? "on" : "off"));
  if (change.link_state)
    add(&VfChange::link_state, fmt::format("state {}", kStates[static_cast<size_t>(*change.link_state)]));
  if (change.node_guid) add(&VfChange::node_guid, fmt::format("node_guid {}", change.node_guid->to_pairs()));
  if (change.port_guid) add(&VfChange::port_guid, fmt::format("port_guid {}", change.port_guid->to_pairs()));
  return parts;
}

std::string describe(const LinkChange& change) {
  std::string text;
  if (change.netns != nullptr) text += " to " + change.netns->path();
  if (change.name) text += (change.netns != nullptr ? " as " : " name ") + change.name->value;
  if (change.mtu) text += fmt::format(" mtu {}", *change.mtu);
  if (change.mac) text += fmt::format(" mac {}", *change.mac);
  if (change.up) text += *change.up ? " up" : " down";
  if (change.alias) text += fmt::format(" alias \"{}\"", *change.alias);
  if (change.promiscuous) text += *change.promiscuous ? " promisc on" : " promisc off";
  if (change.all_multicast) text += *change.all_multicast ? " allmulti on" : " allmulti off";
  if (change.tx_queue) text += fmt::format(" txqueuelen {}", *change.tx_queue);
  if (change.arp_notify) text += *change.arp_notify ? " arp_notify on" : " arp_notify off";
  if (change.master) text += *change.master ? fmt::format(" master {}", *change.master) : std::string(" nomaster");
  return text;
}

std::string describe(const NewLink& link) {
  std::string text = fmt::format("{} type {}", link.name, link.kind);
  return link.netns == nullptr ? text : text + " in " + link.netns->path();
}

std::string describe(const Route& route) {
  std::string text = route.is_default() ? "default" : route.destination.to_string();
  if (route.gateway) text += fmt::format(" via {}", *route.gateway);
  if (route.metric) text += fmt::format(" metric {}", *route.metric);
  if (route.table && *route.table != 254) text += fmt::format(" table {}", *route.table);
  return text;
}

std::string describe(const Rule& rule) {
  return fmt::format("from {} lookup {}", rule.source, rule.table);
}

}  // namespace railbed::os
