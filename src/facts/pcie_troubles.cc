// SPDX-License-Identifier: Apache-2.0
#include "facts/pcie_troubles.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "facts/evidence.h"
#include "facts/ports.h"

namespace railbed::facts {
namespace {

using findings::Finding;

constexpr int kMostLanes = 32;    // a port that reports more (255) reports nothing
constexpr size_t kMostBelow = 4;  // devices below a switch that a message names

// What both ends can; absent where one reports nothing.
std::optional<int> lanes_of_both(const PcieLink& link) {
  const auto known = [](int lanes) { return lanes > 0 && lanes <= kMostLanes; };
  if (!known(link.max_width) || !link.peer_max_width || !known(*link.peer_max_width)) return std::nullopt;
  return std::min(link.max_width, *link.peer_max_width);
}

std::optional<double> speed_of_both(const PcieLink& link) {
  if (link.max_speed_gts <= 0 || link.peer_max_speed_gts.value_or(0) <= 0) return std::nullopt;
  return std::min(link.max_speed_gts, *link.peer_max_speed_gts);
}

std::string possible_text(std::optional<double> speed, std::optional<int> lanes) {
  if (speed && lanes) return pcie_text(*speed, *lanes);
  return lanes ? fmt::format("x{}", *lanes) : gts_text(speed.value_or(0));
}

std::optional<PciAddress> port_above(const PciDevice& device) {
  if (device.bridges.empty()) return std::nullopt;
  return device.bridges.back();
}

Finding below_both(const Nic& nic) {
  const PcieLink& link = *nic.pci.link;
  return {
      .id = "RB-PCIE-001",
      .severity = doc::Severity::kWarning,
      .subject = subject_of(nic.pci),
      .message = fmt::format("{}: PCIe at {}, both ends can {}", name_of(nic), pcie_text(link.speed_gts, link.width),
                             possible_text(speed_of_both(link), lanes_of_both(link))),
      .evidence = speed_and_lanes_of(nic.pci.address, port_above(nic.pci), link)};
}

Finding narrow_slot(const Nic& nic) {
  const PcieLink& link = *nic.pci.link;
  return {.id = "RB-PCIE-002",
          .severity = doc::Severity::kNote,
          .subject = subject_of(nic.pci),
          .message = fmt::format("{}: PCIe at {}: its slot has no more lanes, the card could use {}", name_of(nic),
                                 pcie_text(link.speed_gts, link.width), link.max_width),
          .evidence = lanes_of(nic.pci.address, port_above(nic.pci), link)};
}

// Whether the slot or a fault is the reason is unknown.
Finding below_own(const Nic& nic) {
  const PcieLink& link = *nic.pci.link;
  return {.id = "RB-PCIE-006",
          .severity = doc::Severity::kNote,
          .subject = subject_of(nic.pci),
          .message = fmt::format("{}: PCIe at {}, the card can {}; what its slot can is not known", name_of(nic),
                                 pcie_text(link.speed_gts, link.width), pcie_text(link.max_speed_gts, link.max_width)),
          .evidence = speed_and_lanes_of(nic.pci.address, port_above(nic.pci), link)};
}

std::optional<double> rate_of_port(const CardPort& port) {
  if (port.rdma != nullptr && port.device->soft) return std::nullopt;
  if (port.rdma != nullptr && port.rdma->state == "ACTIVE" && port.rdma->rate_gbps) return port.rdma->rate_gbps;
  if (port.rdma == nullptr && port.netdev != nullptr && port.netdev->speed_mbps)
    return *port.netdev->speed_mbps / 1000.0;
  return std::nullopt;
}

// Ports that share a link are compared one by one: cards with two ports share theirs by design, and one port alone is
// served. A second function with Data Direct carries a part of the traffic over a link of its own.
void faster_ports(const Nic& nic, std::vector<Finding>& found) {
  if (nic.data_direct) return;
  const PcieLink& link = *nic.pci.link;
  const double carried = pcie_gbps(link);
  for (const CardPort& port : ports_of(nic)) {
    const std::optional<double> rate = rate_of_port(port);
    if (!rate || *rate <= carried) continue;
    const bool is_rdma = port.rdma != nullptr;
    const std::string which = is_rdma ? fmt::format("{} port {}", name_of(nic), port.rdma->number)
                                      : fmt::format("{}: interface {}", name_of(nic), port.netdev->name);
    found.push_back(
        {.id = "RB-PCIE-004",
         .severity = doc::Severity::kWarning,
         .subject = is_rdma ? subject_of(*port.device, *port.rdma) : subject_of(*port.netdev),
         .message = fmt::format("{}: {:g}G behind PCIe at {}, which carries {:.0f} Gb/s", which, *rate,
                                pcie_text(link.speed_gts, link.width), carried),
         .evidence = {is_rdma ? of_port(*port.device, *port.rdma, "rate", port.rdma->rate_text)
                              : of_interface(*port.netdev, "speed", std::to_string(*port.netdev->speed_mbps)),
                      of_function(nic.pci.address, "current_link_speed", gts_text(link.speed_gts)),
                      of_function(nic.pci.address, "current_link_width", std::to_string(link.width))}});
  }
}

// "mlx5_0 (0000:3b:00.0), GPU 0, GPU 1, and 2 more"
std::string below(const NodeFacts& facts, PciAddress upstream) {
  const auto is_below = [&](const PciDevice& device) {
    return std::ranges::find(device.bridges, upstream) != device.bridges.end();
  };
  std::vector<std::string> names;
  for (const Nic& nic : facts.nics)
    if (is_below(nic.pci)) names.push_back(name_of(nic));
  for (size_t i = 0; i < facts.gpus.size(); ++i)
    if (is_below(facts.gpus[i].pci)) names.push_back(fmt::format("GPU {}", i));
  const size_t more = names.size() > kMostBelow ? names.size() - kMostBelow : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(", and {} more", more) : "");
}

// The port above an upstream port, by the path of a device below it.
std::optional<PciAddress> above_switch(const NodeFacts& facts, PciAddress upstream) {
  const auto in = [&](const PciDevice& device) -> std::optional<PciAddress> {
    const auto at = std::ranges::find(device.bridges, upstream);
    if (at == device.bridges.end() || at == device.bridges.begin()) return std::nullopt;
    return *(at - 1);
  };
  for (const Nic& nic : facts.nics)
    if (const auto found = in(nic.pci)) return found;
  for (const Gpu& gpu : facts.gpus)
    if (const auto found = in(gpu.pci)) return found;
  return std::nullopt;
}

// `who` is the device, and `what` names it in "the GPU can 16".
std::optional<Finding> fewer_lanes(const PcieLink& link, std::string_view id, PciAddress address,
                                   std::optional<PciAddress> above, std::string_view who, std::string_view what) {
  if (link.width >= link.max_width || link.max_width > kMostLanes) return std::nullopt;
  const std::optional<int> both = lanes_of_both(link);
  if (both && link.width >= *both) return std::nullopt;
  Finding finding{.id = both ? std::string(id) : "RB-PCIE-006",
                  .severity = both ? doc::Severity::kWarning : doc::Severity::kNote,
                  .subject = {findings::Subject::Kind::kPci, address.to_string()},
                  .message = both ? fmt::format("{} has {} lanes, both ends can {}", who, link.width, *both)
                                  : fmt::format("{} has {} lanes, the {} can {}; what the port above can is not known",
                                                who, link.width, what, link.max_width),
                  .evidence = lanes_of(address, above, link)};
  return finding;
}

}  // namespace

std::vector<Finding> pcie_troubles_of(const Nic& nic) {
  std::vector<Finding> found;
  if (!nic.pci.link) return found;
  const PcieLink& link = *nic.pci.link;
  if (is_below_possible(link))
    found.push_back(below_both(nic));
  else if (link.width < link.max_width && lanes_of_both(link))
    found.push_back(narrow_slot(nic));
  else if ((link.width < link.max_width && link.max_width <= kMostLanes) ||
           (link.speed_gts < link.max_speed_gts && !speed_of_both(link)))
    found.push_back(below_own(nic));
  faster_ports(nic, found);
  return found;
}

std::vector<Finding> pcie_troubles_of_gpu(size_t number, const PciDevice& gpu) {
  std::vector<Finding> found;
  if (!gpu.link) return found;
  if (auto fewer = fewer_lanes(*gpu.link, "RB-PCIE-003", gpu.address, port_above(gpu),
                               fmt::format("GPU {} ({}): PCIe", number, gpu.address), "GPU"))
    found.push_back(std::move(*fewer));
  return found;
}

std::vector<Finding> pcie_troubles_of_switches(const NodeFacts& facts) {
  std::vector<Finding> found;
  for (const PciSwitch& one : facts.switches)
    if (auto fewer = fewer_lanes(
            one.link, "RB-PCIE-005", one.address, above_switch(facts, one.address),
            fmt::format("PCIe switch {} (above {}): its uplink", one.address, below(facts, one.address)), "switch"))
      found.push_back(std::move(*fewer));
  return found;
}

std::string pcie_text(double speed_gts, int width) {
  return fmt::format("{:g} GT/s x{}", speed_gts, width);
}

std::string pcie_possible(const PcieLink& link) {
  const bool is_unknown = (link.speed_gts < link.max_speed_gts && !speed_of_both(link)) ||
                          (link.width < link.max_width && !lanes_of_both(link));
  if (is_unknown) return {};
  return pcie_text(std::min(link.max_speed_gts, link.peer_max_speed_gts.value_or(link.max_speed_gts)),
                   std::min(link.max_width, link.peer_max_width.value_or(link.max_width)));
}

bool is_below_possible(const PcieLink& link) {
  return link.speed_gts < speed_of_both(link).value_or(0) || link.width < lanes_of_both(link).value_or(0);
}

double pcie_gbps(const PcieLink& link) {
  constexpr double kGen3Gts = 8;
  constexpr double kGen6Gts = 64;
  // 8b/10b, then 128b/130b, then flits of 256 bytes with 242 of them for packets.
  const double share = link.speed_gts < kGen3Gts ? 8.0 / 10 : link.speed_gts < kGen6Gts ? 128.0 / 130 : 242.0 / 256;
  return link.speed_gts * link.width * share;
}

}  // namespace railbed::facts
