// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/address_codec.h"

#include <algorithm>

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace railbed::os {
namespace {

uint8_t family_number(IpFamily family) {
  return family == IpFamily::kV4 ? AF_INET : AF_INET6;
}

std::optional<IpFamily> family_of(uint8_t number) {
  if (number == AF_INET) return IpFamily::kV4;
  if (number == AF_INET6) return IpFamily::kV6;
  return std::nullopt;
}

Bytes address_bytes(const IpAddress& address) {
  return Bytes(address.bytes).first(static_cast<size_t>(address.byte_count()));
}

std::optional<IpAddress> read_address(IpFamily family, Bytes payload) {
  IpAddress address;
  address.family = family;
  auto size = static_cast<size_t>(address.byte_count());
  if (payload.size() < size) return std::nullopt;
  std::copy_n(payload.begin(), size, address.bytes.begin());
  return address;
}

NetlinkRequest address_request(uint16_t type, uint16_t flags, const LinkAddress& address) {
  NetlinkRequest request(type, flags);
  ifaddrmsg header{};
  header.ifa_family = family_number(address.prefix.address.family);
  header.ifa_prefixlen = static_cast<uint8_t>(address.prefix.length);
  header.ifa_index = static_cast<uint32_t>(address.link.value);
  // IPAM guarantees that the address is unique, so it is usable at once instead of after a second or two of duplicate
  // address detection.
  if (type == RTM_NEWADDR && address.prefix.address.family == IpFamily::kV6) header.ifa_flags = IFA_F_NODAD;
  request.put_header(header);
  request.put(IFA_LOCAL, address_bytes(address.prefix.address));
  request.put(IFA_ADDRESS, address_bytes(address.prefix.address));
  return request;
}

}  // namespace

bool is_advertised_address(const NetlinkMessage& message) {
  const auto header = message.header<ifaddrmsg>();
  if (message.type != RTM_NEWADDR || !header || header->ifa_family != AF_INET6) return false;
  uint32_t flags = header->ifa_flags;
  for (const Attribute& attribute : message.attributes_after(sizeof *header))
    if (attribute.type == IFA_FLAGS) flags = attribute.u32().value_or(flags);
  return (flags & IFA_F_PERMANENT) == 0;
}

bool is_advertised_route(const NetlinkMessage& message) {
  const auto header = message.header<rtmsg>();
  return message.type == RTM_NEWROUTE && header && header->rtm_protocol == RTPROT_RA;
}

NetlinkRequest encode_list_addresses() {
  NetlinkRequest request(RTM_GETADDR, NLM_F_DUMP);
  request.put_header(ifaddrmsg{});
  return request;
}

NetlinkRequest encode_add_address(const LinkAddress& address) {
  NetlinkRequest request = address_request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, address);
  if (address.prefix.address.family == IpFamily::kV4 && address.prefix.length <= 30)
    request.put(IFA_BROADCAST, address_bytes(address.prefix.last()));
  return request;
}

NetlinkRequest encode_remove_address(const LinkAddress& address) {
  return address_request(RTM_DELADDR, 0, address);
}

std::optional<LinkAddress> decode_address(const NetlinkMessage& message) {
  auto header = message.header<ifaddrmsg>();
  if (message.type != RTM_NEWADDR || !header) return std::nullopt;
  auto family = family_of(header->ifa_family);
  if (!family || header->ifa_prefixlen > (*family == IpFamily::kV4 ? 32 : 128)) return std::nullopt;
  // With a peer, IFA_ADDRESS is the peer's address and IFA_LOCAL ours; for IPv6 without a peer there is no IFA_LOCAL.
  std::optional<IpAddress> local;
  std::optional<IpAddress> any;
  for (const Attribute& attribute : message.attributes_after(sizeof *header)) {
    if (attribute.type == IFA_LOCAL) local = read_address(*family, attribute.payload);
    if (attribute.type == IFA_ADDRESS) any = read_address(*family, attribute.payload);
  }
  if (!local) local = any;
  if (!local) return std::nullopt;
  return LinkAddress{IfIndex{static_cast<int>(header->ifa_index)}, IpPrefix{*local, header->ifa_prefixlen}};
}

NetlinkRequest encode_list_routes(IpFamily family, Tables which) {
  NetlinkRequest request(RTM_GETROUTE, NLM_F_DUMP);
  rtmsg header{};
  header.rtm_family = family_number(family);
  // Kernels with strict checking filter by table; older ones send all routes.
  header.rtm_table = which == Tables::kMain ? RT_TABLE_MAIN : RT_TABLE_UNSPEC;
  request.put_header(header);
  return request;
}

namespace {

NetlinkRequest route_request(uint16_t type, uint16_t flags, const Route& route) {
  NetlinkRequest request(type, flags);
  bool removal = type == RTM_DELROUTE;
  auto table = static_cast<uint32_t>(route.table.value_or(RT_TABLE_MAIN));
  rtmsg header{};
  header.rtm_family = family_number(route.family());
  header.rtm_dst_len = static_cast<uint8_t>(route.destination.length);
  header.rtm_table = table < 256 ? static_cast<uint8_t>(table) : uint8_t{RT_TABLE_UNSPEC};
  header.rtm_protocol = removal ? RTPROT_UNSPEC : RTPROT_STATIC;
  int scope = route.gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  if (removal && !route.scope) scope = RT_SCOPE_NOWHERE;  // matches any scope
  header.rtm_scope = static_cast<uint8_t>(route.scope.value_or(scope));
  header.rtm_type = RTN_UNICAST;
  request.put_header(header);
  request.put_u32(RTA_TABLE, table);
  if (!route.is_default()) request.put(RTA_DST, address_bytes(route.destination.network()));
  if (route.gateway) request.put(RTA_GATEWAY, address_bytes(*route.gateway));
  if (route.source) request.put(RTA_PREFSRC, address_bytes(*route.source));
  if (route.link) request.put_u32(RTA_OIF, static_cast<uint32_t>(route.link.value));
  if (route.metric) request.put_u32(RTA_PRIORITY, static_cast<uint32_t>(*route.metric));
  if (!removal && (route.mtu || route.advmss)) {
    size_t metrics = request.begin(RTA_METRICS);
    if (route.mtu) request.put_u32(RTAX_MTU, static_cast<uint32_t>(*route.mtu));
    if (route.advmss) request.put_u32(RTAX_ADVMSS, static_cast<uint32_t>(*route.advmss));
    request.end(metrics);
  }
  return request;
}

}  // namespace

NetlinkRequest encode_add_route(const Route& route) {
  // Without NLM_F_EXCL: two networks of a pod may both have a default route (the later one counts, as with the
  // reference plugins). An identical route still gives EEXIST.
  return route_request(RTM_NEWROUTE, NLM_F_CREATE, route);
}

NetlinkRequest encode_remove_route(const Route& route) {
  return route_request(RTM_DELROUTE, 0, route);
}

namespace {

std::optional<IpAddress> read_via(Bytes payload) {
  if (payload.size() < 2) return std::nullopt;
  auto family = family_of(static_cast<uint8_t>(payload[0] | payload[1] << 8));  // host order, as rtvia has it
  return family ? read_address(*family, payload.subspan(2)) : std::nullopt;
}

// Reads gateway and interface, of the route itself or of one of its next hops.
void read_hop(const Attribute& attribute, Route& route) {
  if (attribute.type == RTA_GATEWAY) route.gateway = read_address(route.family(), attribute.payload);
  if (attribute.type == RTA_VIA) route.gateway = read_via(attribute.payload);
  if (attribute.type == RTA_OIF) route.link = IfIndex{static_cast<int>(attribute.u32().value_or(0))};
}

std::vector<Route> read_next_hops(Bytes payload, const Route& route) {
  std::vector<Route> routes;
  while (payload.size() >= sizeof(rtnexthop)) {
    rtnexthop hop{};
    std::memcpy(&hop, payload.data(), sizeof hop);
    if (hop.rtnh_len < sizeof hop || hop.rtnh_len > payload.size()) break;
    Route one = route;
    one.link = IfIndex{hop.rtnh_ifindex};
    for (const Attribute& attribute : attributes(payload.subspan(sizeof hop, hop.rtnh_len - sizeof hop)))
      read_hop(attribute, one);
    routes.push_back(std::move(one));
    payload = payload.subspan(std::min<size_t>(RTNH_ALIGN(hop.rtnh_len), payload.size()));
  }
  return routes;
}

void read_metrics(Bytes payload, Route& route) {
  for (const Attribute& metric : attributes(payload)) {
    if (metric.type == RTAX_MTU) route.mtu = static_cast<int>(metric.u32().value_or(0));
    if (metric.type == RTAX_ADVMSS) route.advmss = static_cast<int>(metric.u32().value_or(0));
  }
}

}  // namespace

std::vector<Route> decode_all_routes(const NetlinkMessage& message) {
  auto header = message.header<rtmsg>();
  if (message.type != RTM_NEWROUTE || !header) return {};
  auto family = family_of(header->rtm_family);
  if (!family || header->rtm_type != RTN_UNICAST || (header->rtm_flags & RTM_F_CLONED) != 0) return {};
  if (header->rtm_dst_len > (*family == IpFamily::kV4 ? 32 : 128)) return {};
  Route route{.destination = Route::everywhere(*family)};
  route.scope = header->rtm_scope;
  uint32_t table = header->rtm_table;
  Bytes next_hops;
  auto all = message.attributes_after(sizeof *header);
  for (const Attribute& attribute : all) {
    read_hop(attribute, route);
    if (attribute.type == RTA_TABLE) table = attribute.u32().value_or(table);
    if (attribute.type == RTA_PRIORITY) route.metric = static_cast<int>(attribute.u32().value_or(0));
    if (attribute.type == RTA_METRICS) read_metrics(attribute.payload, route);
    if (attribute.type == RTA_MULTIPATH) next_hops = attribute.payload;
    if (attribute.type == RTA_PREFSRC) route.source = read_address(*family, attribute.payload);
    if (attribute.type == RTA_DST)
      if (auto address = read_address(*family, attribute.payload))
        route.destination = IpPrefix{*address, header->rtm_dst_len};
  }
  if (table == RT_TABLE_LOCAL) return {};
  if (table != RT_TABLE_MAIN) route.table = static_cast<int>(table);
  if (route.destination.length != header->rtm_dst_len) return {};
  if (!next_hops.empty()) return read_next_hops(next_hops, route);
  return {route};
}

std::vector<Route> decode_routes(const NetlinkMessage& message) {
  std::vector<Route> routes = decode_all_routes(message);
  std::erase_if(routes, [](const Route& route) { return route.table.has_value(); });
  return routes;
}

namespace {

NetlinkRequest rule_request(uint16_t type, uint16_t flags, const Rule& rule) {
  NetlinkRequest request(type, flags);
  auto table = static_cast<uint32_t>(rule.table);
  fib_rule_hdr header{};
  header.family = family_number(rule.source.address.family);
  header.src_len = static_cast<uint8_t>(rule.source.length);
  header.table = table < 256 ? static_cast<uint8_t>(table) : uint8_t{RT_TABLE_UNSPEC};
  header.action = FR_ACT_TO_TBL;
  request.put_header(header);
  request.put(FRA_SRC, address_bytes(rule.source.network()));
  request.put_u32(FRA_TABLE, table);
  if (rule.priority) request.put_u32(FRA_PRIORITY, static_cast<uint32_t>(*rule.priority));
  return request;
}

}  // namespace

NetlinkRequest encode_list_rules(IpFamily family) {
  NetlinkRequest request(RTM_GETRULE, NLM_F_DUMP);
  fib_rule_hdr header{};
  header.family = family_number(family);
  request.put_header(header);
  return request;
}

NetlinkRequest encode_add_rule(const Rule& rule) {
  return rule_request(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, rule);
}

NetlinkRequest encode_remove_rule(const Rule& rule) {
  return rule_request(RTM_DELRULE, 0, rule);
}

std::optional<Rule> decode_rule(const NetlinkMessage& message) {
  auto header = message.header<fib_rule_hdr>();
  if (message.type != RTM_NEWRULE || !header || header->action != FR_ACT_TO_TBL) return std::nullopt;
  auto family = family_of(header->family);
  if (!family || header->src_len > (*family == IpFamily::kV4 ? 32 : 128)) return std::nullopt;
  Rule rule{.table = header->table};
  std::optional<IpAddress> source;
  for (const Attribute& attribute : message.attributes_after(sizeof *header)) {
    if (attribute.type == FRA_SRC) source = read_address(*family, attribute.payload);
    if (attribute.type == FRA_TABLE) rule.table = static_cast<int>(attribute.u32().value_or(0));
    if (attribute.type == FRA_PRIORITY) rule.priority = static_cast<int>(attribute.u32().value_or(0));
  }
  if (!source) return std::nullopt;
  rule.source = {*source, header->src_len};
  return rule;
}

}  // namespace railbed::os
