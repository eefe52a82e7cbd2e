// SPDX-License-Identifier: Apache-2.0
#include "attach/interface_spec.h"

#include <algorithm>

#include "api/network_demands.h"
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

bool needs_interface(const InterfaceSpec& spec) {
  return !spec.sysctls.empty() || spec.mtu.has_value() || spec.promiscuous.has_value() ||
         spec.all_multicast.has_value() || spec.tx_queue.has_value() || spec.source_routing.has_value() ||
         spec.vrf.has_value();
}

namespace {

Result<void> check(const InterfaceSpec& spec, const InterfaceRequest& request) {
  bool known_vf = !spec.vf_settings.empty() || spec.way == Way::kVfio;
  if (known_vf && !spec.device.has_value())
    return fail(Code::kInternal, "network {}: VF settings without a VF", spec.network);
  if (spec.way == Way::kVfio && needs_interface(spec))
    return fail(Code::kInvalid, "network {}: VF {} is bound to vfio-pci and has no interface to tune", spec.network,
                *spec.device);
  if (spec.mac.has_value() && request.device.has_value() && request.device->infiniband)
    return fail(Code::kInvalid, "network {}: an InfiniBand interface has no MAC address to set", spec.network);
  if (spec.mac.has_value())
    if (const std::string problem = api::mac_problem(*spec.mac); !problem.empty())
      return fail(Code::kInvalid, "network {}: {}", spec.network, problem);
  return {};
}

}  // namespace

namespace {

Result<void> read_plugins(const InterfaceRequest& request, InterfaceSpec& spec) {
  for (const api::Plugin& plugin : request.config.plugins) {
    const PluginType* type = TRY(plugin_type(plugin.type, request.network));
    bool first = &plugin == &request.config.plugins.front();
    if (type->chained() && first && !request.chained)
      return fail(Code::kInvalid, "network {}: plugin {} changes an interface and cannot be the first of the list",
                  request.network, plugin.type);
    if (!type->chained() && (!first || request.chained))
      return fail(Code::kInvalid, "network {}: plugin {} creates an interface and must be the first of the list",
                  request.network, plugin.type);
    const Keys keys(type->row, plugin, request.network);
    TRY(keys.complete());
    TRY(type->read(keys, request, spec));
  }
  return {};
}

// The addresses of the interface in the pod, from the results of the plugins before.
std::vector<ipam::Assigned> previous_addresses(const InterfaceRequest& request) {
  std::vector<ipam::Assigned> addresses;
  if (!request.previous.has_value()) return addresses;
  const auto& interfaces = request.previous->interfaces;
  for (const cni::Address& one : request.previous->addresses) {
    if (one.interface.has_value()) {
      if (*one.interface < 0 || static_cast<size_t>(*one.interface) >= interfaces.size()) continue;
      if (interfaces[static_cast<size_t>(*one.interface)].name != request.name.value) continue;
    }
    addresses.push_back({one.address, one.gateway, ""});
  }
  return addresses;
}

Result<InterfaceSpec> read_change(const InterfaceRequest& request) {
  InterfaceSpec spec{.interface = request.name.value, .network = request.network, .way = Way::kExisting};
  if (request.config.plugins.size() != 1)
    return fail(Code::kInternal, "network {}: a chained request must contain exactly one plugin", request.network);
  spec.type = request.config.plugins.front().type;
  TRY(read_plugins(request, spec));
  if (spec.type == "tuning" && request.selection.mac.present) spec.mac = spec.chosen_mac = request.selection.mac.value;
  spec.addresses_are_assigned = !previous_addresses(request).empty();
  if (spec.source_routing.has_value()) {
    spec.addresses = previous_addresses(request);
    if (spec.addresses.empty())
      return fail(Code::kInvalid, "network {}, plugin sbr: interface {} has no address in prevResult", request.network,
                  request.name);
  }
  TRY(check(spec, request));
  return spec;
}

}  // namespace

Result<InterfaceSpec> read_spec(const InterfaceRequest& request, bool soft_rdma) {
  if (request.config.plugins.empty())
    return fail(Code::kInvalid,
                "network {}: its definition has no spec.config, and only railbed agent reads files of the node",
                request.network);
  if (request.chained) return read_change(request);
  InterfaceSpec spec{.interface = request.name.value, .network = request.network, .resource = request.resource};
  spec.type = request.config.plugins.front().type;
  TRY(read_plugins(request, spec));
  if (request.selection.mac.present) spec.mac = spec.chosen_mac = request.selection.mac.value;
  if (spec.mtu == 0) spec.mtu.reset();
  // A VF's administrative MAC and its interface's MAC must be equal.
  if (spec.mac.has_value() && spec.vf.has_value()) spec.vf_settings.mac = spec.mac;
  spec.soft_rdma = soft_rdma && spec.rdma && spec.way == Way::kMove;
  spec.addresses = request.addresses;
  spec.addresses_are_assigned = !request.addresses.empty() || request.addresses_later;
  spec.routes = with_gateways(request.routes, request.addresses);
  add_default_routes(request.selection.default_route, spec.routes);
  if (spec.without_parent && spec.addresses.empty() && !request.addresses_later)
    return fail(Code::kInvalid, "network {}, plugin {}: its ipam assigns no address", request.network, spec.type);
  if (spec.source_routing.has_value() && spec.addresses.empty())
    return fail(Code::kInvalid, "network {}, plugin sbr: the interface has no address", request.network);
  TRY(check(spec, request));
  return spec;
}

}  // namespace railbed::attach
