// SPDX-License-Identifier: Apache-2.0
#include "facts/ports.h"

#include <algorithm>

namespace railbed::facts {
namespace {

bool fits(const CardPort& port, const NetInterface& netdev) {
  if (port.rdma == nullptr || port.device->soft || port.rdma->link_type == LinkType::kUnknown) return true;
  // Without an address (a netdev that is no IPoIB may have lost its MAC, too) the kind of the interface is unknown.
  if (!netdev.ipoib && !netdev.mac) return true;
  return (port.rdma->link_type == LinkType::kInfiniband) == netdev.ipoib.has_value();
}

// What the port names itself; facts of earlier releases name it in the GIDs only.
std::string_view named_by(const RdmaPort& port) {
  if (!port.netdev.empty()) return port.netdev;
  for (const GidEntry& gid : port.gids)
    if (!gid.netdev.empty()) return gid.netdev;
  return {};
}

}  // namespace

std::vector<CardPort> ports_of(const Nic& nic) {
  std::vector<CardPort> ports;
  for (const RdmaDevice& device : nic.rdma) {
    for (const RdmaPort& port : device.ports) ports.push_back({.device = &device, .rdma = &port});
    if (device.ports.empty()) ports.push_back({.device = &device});
  }
  std::vector<const NetInterface*> left;
  for (const NetInterface& netdev : nic.netdevs) left.push_back(&netdev);
  const auto is_soft = [](const CardPort& port) { return port.device->soft; };
  const auto take_named = [&](CardPort& port) {
    if (port.rdma == nullptr) return;
    const auto own = std::ranges::find(nic.netdevs, named_by(*port.rdma), &NetInterface::name);
    if (own == nic.netdevs.end()) return;
    port.netdev = &*own;
    std::erase(left, &*own);
  };
  const auto take_left = [&](CardPort& port) {
    if (port.netdev != nullptr || (port.rdma != nullptr && !named_by(*port.rdma).empty())) return;
    const auto own = std::ranges::find_if(left, [&](const NetInterface* netdev) { return fits(port, *netdev); });
    if (own == left.end()) return;
    port.netdev = *own;
    left.erase(own);
  };
  // Soft devices last: the interface that one is made on belongs to the hardware's port first.
  for (const bool soft : {false, true}) {
    for (CardPort& port : ports)
      if (is_soft(port) == soft) take_named(port);
    for (CardPort& port : ports)
      if (is_soft(port) == soft) take_left(port);
  }
  for (const NetInterface* netdev : left) ports.push_back({.netdev = netdev});
  if (ports.empty()) ports.emplace_back();
  return ports;
}

}  // namespace railbed::facts
