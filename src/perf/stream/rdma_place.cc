// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/rdma_place.h"

#include <algorithm>

#include "base/command.h"
#include "rdma/link_rate.h"
#include "rdma/local_network.h"

namespace railbed::perf {
namespace {

struct Candidate {
  RdmaDevice device;
  PortFacts port;
};

std::string device_of(const std::string& wanted) {
  return wanted.substr(0, wanted.find(':'));
}

Result<int> wanted_port(const std::string& wanted, int port_count) {
  const size_t colon = wanted.find(':');
  if (colon == std::string::npos) return 0;
  const std::string text = wanted.substr(colon + 1);
  const int port = text.size() == 1 && text[0] >= '1' && text[0] <= '9' ? text[0] - '0' : 0;
  if (port < 1 || port > port_count)
    return fail(Code::kInvalid, "--device {}: the device has {} port(s), counted from 1", wanted, port_count);
  return port;
}

// The device with the given name: its given port, otherwise the first active one, otherwise the first.
Result<Candidate> named(const PlaceRequest& request) {
  RdmaDevice device = TRY(RdmaDevice::open(device_of(request.device)));
  const int wanted = TRY(wanted_port(request.device, device.port_count()));
  PortFacts port = TRY(device.port(wanted == 0 ? 1 : wanted));
  for (int n = 2; wanted == 0 && port.state != IBV_PORT_ACTIVE && n <= device.port_count(); ++n) {
    PortFacts other = TRY(device.port(n));
    if (other.state == IBV_PORT_ACTIVE) port = std::move(other);
  }
  return Candidate{std::move(device), std::move(port)};
}

Result<Candidate> by_address(const rdma::LocalNetwork& network, const IpAddress& toward) {
  const rdma::LocalInterface* interface = rdma::interface_of(network, toward);
  if (interface == nullptr) return fail(Code::kNotFound, "{} is not an address of this network namespace", toward);
  std::string seen;
  for (const std::string& name : TRY(RdmaDevice::names())) {
    auto device = RdmaDevice::open(name);
    if (!device) {  // a pod sees devices of others, but cannot open them
      seen += fmt::format("{}{} (cannot be opened)", seen.empty() ? "" : ", ", name);
      continue;
    }
    for (int n = 1; n <= device->port_count(); ++n) {
      PortFacts port = TRY(device->port(n));
      if (port_belongs_to(port, *interface, network)) return Candidate{std::move(*device), std::move(port)};
    }
    seen += fmt::format("{}{}", seen.empty() ? "" : ", ", name);
  }
  return fail(
      Error{.code = Code::kNotFound,
            .sys_errno = 0,
            .message = fmt::format("no RDMA device belongs to {} ({}), the interface toward the peer; there {}",
                                   interface->name, toward, seen.empty() ? "is no RDMA device at all" : "are: " + seen),
            .context = {},
            .hint = fmt::format("set --device, measure plain sockets with --tcp, or create a soft device: `{}`",
                                Command{"rdma", "link", "add"}
                                    .value(fmt::format("rxe_{}", interface->name))
                                    .words({"type", "rxe", "netdev"})
                                    .value(interface->name.to_string()))});
}

}  // namespace

bool port_belongs_to(const PortFacts& port, const rdma::LocalInterface& interface, const rdma::LocalNetwork& network) {
  return std::any_of(port.gids.begin(), port.gids.end(), [&](const rdma::GidEntry& entry) {
    if (entry.type != rdma::GidType::kInfiniBand)
      return entry.netdev == interface.index && rdma::is_ours(entry, network);
    const auto& hardware = interface.hardware_address;
    return hardware.size() == 20 && std::equal(entry.gid.bytes.begin(), entry.gid.bytes.end(), hardware.begin() + 4);
  });
}

Result<RdmaPlace> find_place(os::Kernel& kernel, const PlaceRequest& request, const IpAddress& toward) {
  const rdma::LocalNetwork network = TRY(rdma::read_local_network(kernel));
  auto candidate = request.device.empty() ? by_address(network, toward) : named(request);
  if (!candidate) return fail(std::move(candidate.error()));
  RdmaPlace place{
      .device = std::move(candidate->device), .port = std::move(candidate->port), .gid = {}, .endpoint = {}};
  if (place.port.state != IBV_PORT_ACTIVE) return fail(port_down(place.device.name(), place.port));
  place.gid = TRY(rdma::choose_gid(place.port.gids, network, request.gid_rule, toward)
                      .context("{} port {}", place.device.name(), place.port.number));
  Endpoint& end = place.endpoint;
  end.hostname = kernel.host_name();
  end.device = place.device.name();
  end.port = place.port.number;
  end.gid = place.gid.entry.gid.to_string();
  end.gid_index = place.gid.entry.index;
  end.gid_reason = place.gid.reason;
  end.link_layer = place.port.is_infiniband ? "InfiniBand" : "Ethernet";
  end.path_mtu_bytes = place.port.mtu_bytes;
  end.soft = place.device.is_soft();
  rdma::LinkRates rates = rdma::read_link(
      kernel.files(), place.port.is_infiniband ? rdma::LinkLayer::kInfiniBand : rdma::LinkLayer::kEthernet,
      port_of(end));
  end.link = std::move(rates.link);
  end.link_gbps = rates.link_gbps;
  end.pcie = std::move(rates.pcie);
  end.pcie_gbps = rates.pcie_gbps;
  end.address = (place.port.is_infiniband ? toward : rdma::address_of(place.gid.entry.gid)).to_string();
  for (const rdma::LocalInterface& interface : network.interfaces)
    if (port_belongs_to(place.port, interface, network)) end.netdev = interface.name.value;
  for (const rdma::LocalInterface& interface : network.interfaces)
    if (interface.index == place.gid.entry.netdev) end.netdev = interface.name.value;
  return place;
}

}  // namespace railbed::perf
