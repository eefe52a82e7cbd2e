// SPDX-License-Identifier: Apache-2.0
#include "attach/source_routes.h"

#include <algorithm>

namespace railbed::attach {
namespace {

bool is_link_local(const Route& route) {
  if (route.family() != IpFamily::kV6 || route.is_default()) return false;
  const auto& bytes = route.destination.address.bytes;
  return bytes[0] == 0xff || (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80);
}

// A route belongs to an address by its source or its gateway; one without either belongs to all.
bool belongs(const Route& route, const IpPrefix& address) {
  if (route.family() != address.address.family) return false;
  if (!route.source.has_value() && !route.gateway.has_value()) return true;
  return (route.source.has_value() && address.contains(*route.source)) ||
         (route.gateway.has_value() && address.contains(*route.gateway));
}

std::optional<IpAddress> named_gateway(const SourceRouting& wanted, const IpPrefix& address) {
  for (const IpAddress& gateway : wanted.gateways)
    if (gateway.family == address.address.family && address.contains(gateway)) return gateway;
  return std::nullopt;
}

// As the kernel counts: an IPv6 route without a metric has 1024.
int metric_of(const Route& route) {
  int metric = route.metric.value_or(0);
  return metric == 0 && route.family() == IpFamily::kV6 ? 1024 : metric;
}

bool is_default(const Route& route) {
  return route.is_default() && metric_of(route) == metric_of({.destination = route.destination});
}

bool same_place(const Route& a, const Route& b) {
  return a.destination == b.destination && a.table == b.table && metric_of(a) == metric_of(b);
}

}  // namespace

std::vector<os::Rule> source_rules(const std::vector<ipam::Assigned>& addresses, const std::vector<int>& tables) {
  std::vector<os::Rule> rules;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const IpAddress& address = addresses[i].address.address;
    rules.push_back({.source = {address, address.bits()}, .table = tables[i]});
  }
  return rules;
}

SourceRoutes source_routes(const SourceRouting& wanted, const std::vector<ipam::Assigned>& addresses,
                           const std::vector<os::Rule>& rules, const std::vector<Route>& main,
                           const std::vector<Route>& others) {
  SourceRoutes result;
  // Without gateways, the original only adds rules for a table that the network names; its routes name that table, too
  // (ipam.routes.table).
  if (wanted.table.has_value() && wanted.gateways.empty() && !wanted.source_hints) return result;
  for (const Route& route : main)
    if (!is_link_local(route)) result.remove.push_back(route);
  std::vector<Route> all = result.remove;
  for (const Route& route : others)
    if (!route.table.has_value()) all.push_back(route);
  for (size_t i = 0; i < addresses.size(); ++i) {
    std::vector<Route> mine;
    auto add = [&](Route route) {
      route.table = rules[i].table;
      if (wanted.source_hints && !route.source.has_value()) route.source = addresses[i].address.address;
      if (std::ranges::none_of(mine, [&](const Route& other) { return same_place(other, route); }) &&
          std::ranges::none_of(result.add, [&](const Route& other) { return same_place(other, route); }))
        mine.push_back(std::move(route));
    };
    // A gateway from the network's configuration comes before a default route, which comes before the address's own
    // gateway.
    auto named = named_gateway(wanted, addresses[i].address);
    if (named.has_value()) add(Route::default_by(*named));
    for (const Route& route : all)
      if (belongs(route, addresses[i].address)) add(route);
    auto gateway = addresses[i].gateway;
    if (gateway.has_value() && std::ranges::none_of(mine, is_default)) add(Route::default_by(*gateway));
    std::ranges::stable_sort(mine, {}, [](const Route& route) { return route.gateway.has_value(); });
    result.add.insert(result.add.end(), mine.begin(), mine.end());
  }
  std::ranges::stable_sort(result.remove, std::greater{}, [](const Route& route) { return route.gateway.has_value(); });
  return result;
}

std::vector<Route> networks_first(std::vector<Route> routes) {
  std::ranges::stable_sort(routes, {}, [](const Route& route) { return route.gateway.has_value(); });
  return routes;
}

}  // namespace railbed::attach
