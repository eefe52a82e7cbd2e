// SPDX-License-Identifier: Apache-2.0
#include "rdma/local_network.h"

#include <algorithm>

namespace railbed::rdma {
namespace {

// As IFF_RUNNING: drivers that do not report their state are taken to be up.
bool is_running(const os::Link& link) {
  return link.up && (link.oper_state == "up" || link.oper_state == "unknown");
}

}  // namespace

Result<LocalNetwork> read_local_network(os::Kernel& kernel) {
  const std::unique_ptr<os::LinkPort> links = TRY(kernel.links());
  LocalNetwork network;
  for (os::Link& link : TRY(links->list(os::WithVfs::kNo)))
    network.interfaces.push_back({.index = link.index,
                                  .name = link.name,
                                  .hardware_address = std::move(link.hw_address),
                                  .is_up = is_running(link)});
  for (const os::LinkAddress& address : TRY(links->addresses())) {
    const auto interface = std::ranges::find(network.interfaces, address.link, &LocalInterface::index);
    if (interface != network.interfaces.end())
      network.addresses.push_back({.index = address.link, .name = interface->name, .address = address.prefix.address});
  }
  return network;
}

const LocalInterface* interface_of(const LocalNetwork& network, const IpAddress& address) {
  for (const LocalAddress& local : network.addresses)
    if (local.address == address)
      for (const LocalInterface& interface : network.interfaces)
        if (interface.index == local.index) return &interface;
  return nullptr;
}

}  // namespace railbed::rdma
