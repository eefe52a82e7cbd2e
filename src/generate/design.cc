// SPDX-License-Identifier: Apache-2.0
#include "generate/design.h"

#include <algorithm>
#include <bit>
#include <map>

#include "graph/graph.h"
#include "graph/objection.h"

namespace railbed::generate {
namespace {

using facts::LinkType;
using facts::Nic;
using facts::NodeFacts;

const facts::RdmaPort* rdma_port(const Nic& nic) {
  for (const facts::RdmaDevice& device : nic.rdma)
    if (!device.soft && !device.ports.empty()) return &device.ports.front();
  return nullptr;
}

std::string label(const NodeFacts& node, const Nic& nic) {
  return fmt::format("{} of node {}", graph::pf_label(nic), node.node);
}

// The reason to skip a port of the right kind; empty when there is none.
std::string why_not(const NodeFacts& node, const Nic& nic, const DesignRequest& request) {
  if (request.profile != Profile::kHostDevice && nic.total_vfs.value_or(0) <= 0)
    return "it makes no VFs (sriov_totalvfs is 0 or absent: enable SR-IOV in the card's firmware)";
  if (const std::string use = graph::host_use(nic, node); !use.empty()) return "the host uses it: " + use;
  const facts::RdmaPort* port = rdma_port(nic);
  if (port == nullptr && !request.soft_rdma) return "it has no RDMA device";
  if (port != nullptr && !port->state.empty() && port->state != "ACTIVE")
    return fmt::format("its port is {}", port->state);
  return "";
}

bool is_of_profile(const Nic& nic, Profile profile) {
  if (profile == Profile::kInfiniband) return nic.link_type == LinkType::kInfiniband;
  if (profile == Profile::kRoce) return nic.link_type == LinkType::kEthernet;
  return nic.link_type == LinkType::kEthernet || nic.link_type == LinkType::kInfiniband;
}

std::vector<Port> usable_ports(const std::vector<NodeFacts>& nodes, Design& design) {
  std::vector<Port> ports;
  for (const NodeFacts& node : nodes)
    for (const Nic& nic : node.nics) {
      if (!is_of_profile(nic, design.request.profile)) continue;
      const std::string reason = why_not(node, nic, design.request);
      if (reason.empty())
        ports.push_back({&node, &nic});
      else
        design.notes.push_back(fmt::format("{} is left out: {}", label(node, nic), reason));
    }
  return ports;
}

// Ports of one subnet reach each other. Of several subnets only the one with most ports stays in the design.
void keep_one_fabric(std::vector<Port>& ports, Design& design) {
  const auto prefix = [](const Port& port) {
    const facts::RdmaPort* rdma = rdma_port(*port.nic);
    return rdma && port.nic->link_type == LinkType::kInfiniband ? rdma->subnet_prefix.value_or(0) : 0;
  };
  std::map<uint64_t, int> sizes;
  for (const Port& port : ports) ++sizes[prefix(port)];
  if (sizes.size() < 2) return;
  const uint64_t kept = std::ranges::max_element(sizes, {}, [](const auto& one) { return one.second; })->first;
  std::erase_if(ports, [&](const Port& port) {
    if (prefix(port) == kept) return false;
    design.notes.push_back(prefix(port) == 0
                               ? fmt::format("{} is left out: the rails are InfiniBand", label(*port.node, *port.nic))
                               : fmt::format("{} is left out: it is in another fabric (subnet prefix {:016x})",
                                             label(*port.node, *port.nic), prefix(port)));
    return true;
  });
}

// Rail n has the n-th port of every node, in the order of PCI addresses.
void make_rails(const std::vector<Port>& ports, Design& design) {
  for (const Port& port : ports) {
    if (design.nodes.empty() || design.nodes.back() != port.node) design.nodes.push_back(port.node);
    const auto number = static_cast<size_t>(
        std::ranges::count_if(design.rails, [&](const Rail& rail) { return rail.ports.back().node == port.node; }));
    if (number == design.rails.size())
      design.rails.push_back(
          {.name = fmt::format("rail{}", number), .ports = {}, .vfs = design.request.vfs, .range = {}});
    Rail& rail = design.rails[number];
    rail.ports.push_back(port);
    if (design.request.profile == Profile::kHostDevice)
      rail.vfs = 1;
    else
      rail.vfs = std::min(rail.vfs, *port.nic->total_vfs);
  }
  for (const Rail& rail : design.rails) {
    if (rail.ports.size() < design.nodes.size())
      design.notes.push_back(
          fmt::format("{} exists on {} of {} nodes only", rail.name, rail.ports.size(), design.nodes.size()));
    if (rail.vfs < design.request.vfs && design.request.profile != Profile::kHostDevice)
      design.notes.push_back(
          fmt::format("{}: {} VFs instead of {}: a card of it makes no more", rail.name, rail.vfs, design.request.vfs));
  }
}

Result<void> give_ranges(Design& design) {
  const IpPrefix all = TRY(IpPrefix::parse(design.request.addresses).context("the rails' addresses"));
  IpAddress next = all.network();
  for (Rail& rail : design.rails) {
    // The network address and the broadcast address cannot be assigned.
    const auto wanted = static_cast<uint64_t>(addresses_needed(rail) + addresses_needed(rail) / 5 + 2);
    const int host_bits = std::max(8, static_cast<int>(std::bit_width(wanted - 1)));
    rail.range = {next, next.bits() - host_bits};
    const auto after = next.plus(uint64_t{1} << host_bits);
    if (rail.range.length < all.length || !all.contains(rail.range.last()) || !after)
      return fail(Code::kExhausted, "{} is too small for {} rails of {} addresses each", design.request.addresses,
                  design.rails.size(), wanted);
    next = *after;
  }
  return {};
}

Result<void> check_pool(const Design& design) {
  for (const Rail& rail : design.rails)
    if (rail.vfs < vfs_needed(design))
      return fail(Code::kExhausted, "{} pods per node need {} VFs of {} per node, there are {}",
                  design.request.pods_per_node, vfs_needed(design), rail.name, rail.vfs);
  return {};
}

}  // namespace

int addresses_needed(const Rail& rail) {
  return rail.vfs * static_cast<int>(rail.ports.size());
}

int vfs_needed(const Design& design) {
  return design.request.pods_per_node;
}

Result<Design> design(const std::vector<NodeFacts>& nodes, const DesignRequest& request) {
  Design made{.request = request, .nodes = {}, .rails = {}, .notes = {}};
  std::vector<Port> ports = usable_ports(nodes, made);
  keep_one_fabric(ports, made);
  if (ports.empty()) {
    Error error{.code = Code::kNotFound, .message = "no port of these nodes fits the profile", .context = {}};
    for (const std::string& note : made.notes) error.message += "\n  " + note;
    if (made.notes.empty()) error.message += ": none has its link type";
    error.hint = "railbed discover shows the ports; --profile names another kind, --soft-rdma takes ports without RDMA";
    return std::unexpected(std::move(error));
  }
  make_rails(ports, made);
  TRY(check_pool(made));
  TRY(give_ranges(made));
  return made;
}

}  // namespace railbed::generate
