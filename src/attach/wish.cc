// SPDX-License-Identifier: Apache-2.0
#include "attach/wish.h"

#include <algorithm>

#include "attach/types.h"

namespace railbed::attach {
namespace {

// The gateway of an address of this family.
std::optional<IpAddress> gateway_of(IpFamily family, const std::vector<ipam::Assigned>& addresses) {
  for (const ipam::Assigned& one : addresses)
    if (one.gateway.has_value() && one.gateway->family == family) return one.gateway;
  return std::nullopt;
}

// A route without a gateway uses that of the address, as with the reference plugins; without either it is on the link.
std::vector<Route> with_gateways(std::vector<Route> routes, const std::vector<ipam::Assigned>& addresses) {
  for (Route& route : routes) {
    if (route.is_default()) route.destination = Route::everywhere(route.family());
    if (!route.gateway.has_value()) route.gateway = gateway_of(route.family(), addresses);
  }
  return routes;
}

// The pod's default-route replaces the network's default route.
void add_default_routes(const std::vector<IpAddress>& gateways, std::vector<Route>& routes) {
  for (const IpAddress& gateway : gateways) {
    std::erase_if(routes, [&](const Route& route) {
      return route.is_default() && route.family() == gateway.family && !route.table.has_value();
    });
    routes.push_back(Route::default_by(gateway));
  }
}

}  // namespace

bool needs_interface(const Wish& wish) {
  return !wish.sysctls.empty() || wish.mtu.has_value() || wish.promiscuous.has_value() ||
         wish.all_multicast.has_value() || wish.tx_queue.has_value() || wish.source_routing.has_value() ||
         wish.vrf.has_value();
}

namespace {

Result<void> check(const Wish& wish, const InterfaceWanted& wanted) {
  bool known_vf = !wish.vf_settings.empty() || wish.way == Way::kVfio;
  if (known_vf && !wish.device.has_value())
    return fail(Code::kInternal, "network {}: VF settings without a VF", wish.network);
  if (wish.way == Way::kVfio && needs_interface(wish))
    return fail(Code::kInvalid, "network {}: VF {} is bound to vfio-pci: there is no interface to tune", wish.network,
                *wish.device);
  if (wish.mac.has_value() && wanted.device.has_value() && wanted.device->infiniband)
    return fail(Code::kInvalid, "network {}: an InfiniBand interface has no MAC address to set", wish.network);
  if (wish.mac.has_value() && (wish.mac->bytes[0] & 1) != 0)
    return fail(Code::kInvalid, "network {}: {} is a multicast MAC address", wish.network, *wish.mac);
  if (wish.mac.has_value() && wish.mac->is_zero())
    return fail(Code::kInvalid, "network {}: {} is no MAC address for an interface", wish.network, *wish.mac);
  return {};
}

}  // namespace

namespace {

Result<void> read_plugins(const InterfaceWanted& wanted, Wish& wish) {
  for (const api::Plugin& plugin : wanted.config.plugins) {
    const PluginType* type = TRY(plugin_type(plugin.type, wanted.network));
    bool first = &plugin == &wanted.config.plugins.front();
    if (type->chained() && first && !wanted.chained)
      return fail(Code::kInvalid, "network {}: plugin {} changes an interface and cannot be the first of the list",
                  wanted.network, plugin.type);
    if (!type->chained() && (!first || wanted.chained))
      return fail(Code::kInvalid, "network {}: plugin {} makes an interface and must be the first of the list",
                  wanted.network, plugin.type);
    const Keys keys(type->row, plugin, wanted.network);
    TRY(keys.complete());
    TRY(type->read(keys, wanted, wish));
  }
  return {};
}

// The addresses of the interface in the pod, from the results of the plugins before.
std::vector<ipam::Assigned> previous_addresses(const InterfaceWanted& wanted) {
  std::vector<ipam::Assigned> addresses;
  if (!wanted.previous.has_value()) return addresses;
  const auto& interfaces = wanted.previous->interfaces;
  for (const cni::Address& one : wanted.previous->addresses) {
    if (one.interface.has_value()) {
      if (*one.interface < 0 || static_cast<size_t>(*one.interface) >= interfaces.size()) continue;
      if (interfaces[static_cast<size_t>(*one.interface)].name != wanted.name.value) continue;
    }
    addresses.push_back({one.address, one.gateway, ""});
  }
  return addresses;
}

Result<Wish> read_change(const InterfaceWanted& wanted) {
  Wish wish{.interface = wanted.name.value, .network = wanted.network, .way = Way::kExisting};
  if (wanted.config.plugins.size() != 1)
    return fail(Code::kInternal, "network {}: a chained request holds one plugin", wanted.network);
  wish.type = wanted.config.plugins.front().type;
  TRY(read_plugins(wanted, wish));
  if (wish.type == "tuning" && wanted.selection.mac.present) wish.mac = wanted.selection.mac.value;
  if (wish.source_routing.has_value()) {
    wish.addresses = previous_addresses(wanted);
    if (wish.addresses.empty())
      return fail(Code::kInvalid, "network {}, plugin sbr: interface {} has no address in prevResult", wanted.network,
                  wanted.name);
  }
  TRY(check(wish, wanted));
  return wish;
}

}  // namespace

Result<Wish> read_wish(const InterfaceWanted& wanted, bool soft_rdma) {
  if (wanted.config.plugins.empty())
    return fail(Code::kInvalid, "network {}: its configuration has no plugin", wanted.network);
  if (wanted.chained) return read_change(wanted);
  Wish wish{.interface = wanted.name.value, .network = wanted.network, .resource = wanted.resource};
  wish.type = wanted.config.plugins.front().type;
  TRY(read_plugins(wanted, wish));
  if (wanted.selection.mac.present) wish.mac = wanted.selection.mac.value;
  if (wish.mtu == 0) wish.mtu.reset();
  // A VF's administrative MAC and its interface's MAC must be equal.
  if (wish.mac.has_value() && wish.vf.has_value()) wish.vf_settings.mac = wish.mac;
  wish.soft_rdma = soft_rdma && wish.rdma && wish.way == Way::kMove;
  wish.addresses = wanted.addresses;
  wish.routes = with_gateways(wanted.routes, wanted.addresses);
  add_default_routes(wanted.selection.default_route, wish.routes);
  if (wish.stands_alone && wish.addresses.empty() && !wanted.addresses_later)
    return fail(Code::kInvalid, "network {}, plugin {}: its ipam gives it no address", wanted.network, wish.type);
  if (wish.source_routing.has_value() && wish.addresses.empty())
    return fail(Code::kInvalid, "network {}, plugin sbr: the interface has no address", wanted.network);
  TRY(check(wish, wanted));
  return wish;
}

}  // namespace railbed::attach
