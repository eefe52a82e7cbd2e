// SPDX-License-Identifier: Apache-2.0
#include "facts/troubles.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "base/command.h"
#include "base/format.h"
#include "facts/pci_ids.h"
#include "facts/rails.h"

namespace railbed::facts {
namespace {

double possible_speed(const PcieLink& link) {
  return std::min(link.max_speed_gts, link.peer_max_speed_gts.value_or(link.max_speed_gts));
}

int possible_width(const PcieLink& link) {
  return std::min(link.max_width, link.peer_max_width.value_or(link.max_width));
}

std::string name_of(const Nic& nic) {
  for (const RdmaDevice& device : nic.rdma)
    if (!device.soft) return fmt::format("{} ({})", device.name, nic.pci.address);
  if (!nic.netdevs.empty()) return fmt::format("{} ({})", nic.netdevs.front().name, nic.pci.address);
  return nic.pci.address.to_string();
}

// Cards that should be alike: same ids and, where told, same board.
using BoardKind = std::tuple<std::string, std::string, std::string, LinkType>;
BoardKind board_kind(const Nic& nic) {
  std::string board;
  for (const RdmaDevice& device : nic.rdma)
    if (!device.soft && board.empty()) board = device.board_id;
  return {nic.pci.vendor, nic.pci.device, board, nic.link_type};
}

using findings::Evidence;
using findings::Finding;
using findings::Subject;

Evidence in_sysfs(std::string file, std::string value) {
  return {.source = "sysfs", .what = std::move(file), .value = std::move(value)};
}

Evidence of_function(PciAddress address, std::string_view attribute, std::string value) {
  return in_sysfs(fmt::format("/sys/bus/pci/devices/{}/{}", address, attribute), std::move(value));
}

Evidence of_port(const RdmaDevice& device, const RdmaPort& port, std::string_view attribute, std::string value) {
  return in_sysfs(fmt::format("/sys/class/infiniband/{}/ports/{}/{}", device.name, port.number, attribute),
                  std::move(value));
}

Evidence of_interface(const NetInterface& netdev, std::string_view attribute, std::string value) {
  return in_sysfs(fmt::format("/sys/class/net/{}/{}", netdev.name, attribute), std::move(value));
}

// The version comes from the RDMA device or, where that has none, from devlink.
Evidence of_firmware(const Nic& nic) {
  for (const RdmaDevice& device : nic.rdma)
    if (!device.soft && device.firmware == nic.firmware)
      return in_sysfs(fmt::format("/sys/class/infiniband/{}/fw_ver", device.name), nic.firmware);
  return {.source = "devlink", .what = fmt::format("dev info pci/{}", nic.pci.address), .value = nic.firmware};
}

std::string gts_text(double speed) {
  return fmt::format("{:g} GT/s", speed);
}

// The lanes that the link has, and those of which its ends are capable.
std::vector<Evidence> lanes(const PciDevice& pci) {
  const PcieLink& link = *pci.link;
  std::vector<Evidence> out = {of_function(pci.address, "current_link_width", std::to_string(link.width)),
                               of_function(pci.address, "max_link_width", std::to_string(link.max_width))};
  if (link.peer_max_width && !pci.bridges.empty())
    out.push_back(of_function(pci.bridges.back(), "max_link_width", std::to_string(*link.peer_max_width)));
  return out;
}

std::vector<Evidence> speed_and_lanes(const PciDevice& pci) {
  const PcieLink& link = *pci.link;
  std::vector<Evidence> out = {of_function(pci.address, "current_link_speed", gts_text(link.speed_gts)),
                               of_function(pci.address, "max_link_speed", gts_text(link.max_speed_gts))};
  if (link.peer_max_speed_gts && !pci.bridges.empty())
    out.push_back(of_function(pci.bridges.back(), "max_link_speed", gts_text(*link.peer_max_speed_gts)));
  std::ranges::move(lanes(pci), std::back_inserter(out));
  return out;
}

Subject subject_of(const PciDevice& pci) {
  return {Subject::Kind::kPci, pci.address.to_string()};
}

// A port of an RDMA device, with its card.
struct PortOfCard {
  const Nic& nic;
  const RdmaDevice& device;
  const RdmaPort& port;

  std::string name() const { return fmt::format("{} port {}", name_of(nic), port.number); }
  Subject subject() const { return {Subject::Kind::kRdmaPort, fmt::format("{}/{}", device.name, port.number)}; }
};

class Troubles {
 public:
  explicit Troubles(const NodeFacts& facts) : facts_(facts) {
    for (const Nic& nic : facts.nics) equals_[board_kind(nic)].push_back(&nic);
  }

  std::vector<Finding> find() {
    for (const Nic& nic : facts_.nics) {
      ports(nic);
      interfaces(nic);
      pcie_speed(nic.pci, name_of(nic));
      vfs(nic);
    }
    for (size_t i = 0; i < facts_.gpus.size(); ++i) gpu_lanes(i, facts_.gpus[i].pci);
    for (const auto& [kind, nics] : equals_) firmware(nics);
    return std::move(found_);
  }

 private:
  void warn(Finding finding) {
    finding.severity = doc::Severity::kWarning;
    found_.push_back(std::move(finding));
  }

  void ports(const Nic& nic) {
    for (const RdmaDevice& device : nic.rdma)
      for (const RdmaPort& port : device.ports) {
        if (device.soft || port.state.empty()) continue;
        const PortOfCard one{nic, device, port};
        if (port.state == "INIT")
          initial(one);
        else if (port.state != "ACTIVE")
          down(one);
        else
          half_rate(one);
      }
  }

  void initial(const PortOfCard& one) {
    const bool is_ethernet = one.port.link_type == LinkType::kEthernet;
    warn({.id = is_ethernet ? "RB-PORT-002" : "RB-PORT-003",
          .subject = one.subject(),
          .message = fmt::format("{}: INIT: {}", one.name(),
                                 is_ethernet ? "its interface is down" : "no subnet manager has taken it in"),
          .evidence = {of_port(one.device, one.port, "state", one.port.state)}});
  }

  void down(const PortOfCard& one) {
    const std::string& physical = one.port.physical_state;
    std::vector<Evidence> evidence = {of_port(one.device, one.port, "state", one.port.state)};
    if (!physical.empty()) evidence.push_back(of_port(one.device, one.port, "phys_state", physical));
    warn({.id = "RB-PORT-001",
          .subject = one.subject(),
          .message = fmt::format("{}: {}{}", one.name(), one.port.state,
                                 physical.empty() ? "" : fmt::format(" (physically {})", physical)),
          .evidence = std::move(evidence)});
  }

  void half_rate(const PortOfCard& one) {
    double best = one.port.rate_gbps.value_or(0);
    std::optional<Evidence> faster;
    for (const Nic* equal : equals_.at(board_kind(one.nic)))
      for (const RdmaDevice& device : equal->rdma)
        for (const RdmaPort& other : device.ports)
          if (!device.soft && other.state == "ACTIVE" && other.link_type == one.port.link_type &&
              other.rate_gbps.value_or(0) > best) {
            best = *other.rate_gbps;
            faster = of_port(device, other, "rate", other.rate_text);
          }
    if (!one.port.rate_gbps || !faster) return;
    warn({.id = "RB-PORT-004",
          .subject = one.subject(),
          .message = fmt::format("{}: {} ({:g}G), others of its kind have {:g}G", one.name(), one.port.rate_text,
                                 *one.port.rate_gbps, best),
          .evidence = {of_port(one.device, one.port, "rate", one.port.rate_text), std::move(*faster)}});
  }

  // An interface without RDMA may be down because nobody needs it.
  void interfaces(const Nic& nic) {
    const RdmaPort* port = hardware_port(nic);
    if (port == nullptr || nic.link_type != LinkType::kEthernet) return;
    for (const NetInterface& netdev : nic.netdevs) {
      const Subject subject{Subject::Kind::kInterface, netdev.name};
      if (netdev.admin_up == false)
        warn({.id = "RB-PORT-005",
              .subject = subject,
              .message = fmt::format("{}: interface {} is off", name_of(nic), netdev.name),
              .evidence = {of_interface(netdev, "flags", "IFF_UP is not set")},
              .fix = Command{"ip", "link", "set", "dev"}.value(netdev.name).words({"up"}).to_string()});
      else if (netdev.carrier == false && port->state != "DOWN")
        warn({.id = "RB-PORT-006",
              .subject = subject,
              .message = fmt::format("{}: interface {} has no carrier", name_of(nic), netdev.name),
              .evidence = {of_interface(netdev, "carrier", "0")}});
    }
  }

  void pcie_speed(const PciDevice& pci, const std::string& name) {
    if (!pci.link) return;
    const PcieLink& link = *pci.link;
    const std::string now = pcie_text(link.speed_gts, link.width);
    if (is_below_possible(link))
      warn({.id = "RB-PCIE-001",
            .subject = subject_of(pci),
            .message = fmt::format("{}: PCIe at {}, both ends can {}", name, now, pcie_possible(link)),
            .evidence = speed_and_lanes(pci)});
    else if (link.width < link.max_width)
      found_.push_back({.id = "RB-PCIE-002",
                        .severity = doc::Severity::kNote,
                        .subject = subject_of(pci),
                        .message = fmt::format("{}: PCIe at {}: its slot has no more lanes, the card could use {}",
                                               name, now, link.max_width),
                        .evidence = lanes(pci)});
  }

  // A GPU that idles lowers the speed of its link on purpose, but not the width.
  void gpu_lanes(size_t number, const PciDevice& pci) {
    if (!pci.link || pci.link->width >= possible_width(*pci.link)) return;
    warn({.id = "RB-PCIE-003",
          .subject = subject_of(pci),
          .message = fmt::format("GPU {} ({}): PCIe has {} lanes, both ends can {}", number, pci.address,
                                 pci.link->width, possible_width(*pci.link)),
          .evidence = lanes(pci)});
  }

  void vfs(const Nic& nic) {
    if (nic.total_vfs.value_or(1) > 0) return;
    const auto& equals = equals_.at(board_kind(nic));
    const auto other = std::ranges::find_if(equals, [](const Nic* equal) { return equal->total_vfs.value_or(0) > 0; });
    if (other == equals.end()) return;
    const auto total = [](const Nic& one) {
      return of_function(one.pci.address, "sriov_totalvfs", std::to_string(one.total_vfs.value_or(0)));
    };
    Finding finding{.id = "RB-FW-001",
                    .subject = subject_of(nic.pci),
                    .message = fmt::format("{}: it makes no VFs (sriov_totalvfs is 0), others of its kind do: its "
                                           "firmware has SR-IOV off",
                                           name_of(nic)),
                    .evidence = {total(nic), total(**other)}};
    if (nic.pci.vendor == "15b3")
      finding.fix = Command{"mlxconfig", "-d"}
                        .value(nic.pci.address.to_string())
                        .words({"query", "SRIOV_EN", "NUM_OF_VFS"})
                        .to_string();
    warn(std::move(finding));
  }

  void firmware(const std::vector<const Nic*>& nics) {
    std::map<std::string, std::vector<std::string>> by_version;
    std::vector<Evidence> evidence;
    for (const Nic* nic : nics) {
      if (nic->firmware.empty()) continue;
      by_version[nic->firmware].push_back(name_of(*nic));
      evidence.push_back(of_firmware(*nic));
    }
    if (by_version.size() < 2) return;
    std::vector<std::string> parts;
    for (const auto& [version, names] : by_version)
      parts.push_back(fmt::format("{} on {}", version, fmt::join(names, ", ")));
    const PciDevice& card = nics.front()->pci;
    const std::string model = short_model(card.model);
    warn({.id = "RB-FW-002",
          .subject = {Subject::Kind::kCardModel, fmt::format("{}:{}", card.vendor, card.device)},
          .message = fmt::format("firmware differs among equal cards{}: {}",
                                 model.empty() ? "" : fmt::format(" ({})", model), fmt::join(parts, "; ")),
          .evidence = std::move(evidence)});
  }

  const NodeFacts& facts_;
  std::map<BoardKind, std::vector<const Nic*>> equals_;
  std::vector<Finding> found_;
};

}  // namespace

std::string pcie_text(double speed_gts, int width) {
  return fmt::format("{:g} GT/s x{}", speed_gts, width);
}

std::string pcie_possible(const PcieLink& link) {
  return pcie_text(possible_speed(link), possible_width(link));
}

bool is_below_possible(const PcieLink& link) {
  return link.speed_gts < possible_speed(link) || link.width < possible_width(link);
}

std::vector<findings::Finding> troubles_of(const NodeFacts& facts) {
  return Troubles(facts).find();
}

}  // namespace railbed::facts
