// SPDX-License-Identifier: Apache-2.0
#include "facts/troubles.h"

#include <algorithm>
#include <map>
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

class Troubles {
 public:
  explicit Troubles(const NodeFacts& facts) : facts_(facts) {
    for (const Nic& nic : facts.nics) equals_[board_kind(nic)].push_back(&nic);
  }

  std::vector<std::string> find() {
    for (const Nic& nic : facts_.nics) {
      ports(nic);
      interfaces(nic);
      pcie_speed(nic.pci, name_of(nic));
      vfs(nic);
    }
    // A GPU that idles lowers the speed of its link on purpose, but not the width.
    for (size_t i = 0; i < facts_.gpus.size(); ++i)
      if (const auto& link = facts_.gpus[i].pci.link; link && link->width < possible_width(*link))
        say("GPU {} ({}): PCIe has {} lanes, both ends can {}", i, facts_.gpus[i].pci.address, link->width,
            possible_width(*link));
    for (const auto& [kind, nics] : equals_) firmware(nics);
    return std::move(lines_);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    lines_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void ports(const Nic& nic) {
    for (const RdmaDevice& device : nic.rdma)
      for (const RdmaPort& port : device.ports) {
        if (device.soft || port.state.empty()) continue;
        const std::string name = fmt::format("{} port {}", name_of(nic), port.number);
        if (port.state == "INIT")
          say("{}: INIT: {}", name,
              port.link_type == LinkType::kEthernet ? "its interface is down" : "no subnet manager has taken it in");
        else if (port.state != "ACTIVE")
          say("{}: {}{}", name, port.state,
              port.physical_state.empty() ? "" : fmt::format(" (physically {})", port.physical_state));
        else
          half_rate(nic, port, name);
      }
  }

  void half_rate(const Nic& nic, const RdmaPort& port, const std::string& name) {
    double best = 0;
    for (const Nic* equal : equals_.at(board_kind(nic)))
      for (const RdmaDevice& device : equal->rdma)
        for (const RdmaPort& other : device.ports)
          if (!device.soft && other.state == "ACTIVE" && other.link_type == port.link_type)
            best = std::max(best, other.rate_gbps.value_or(0));
    if (port.rate_gbps && *port.rate_gbps < best)
      say("{}: {} ({:g}G), others of its kind have {:g}G", name, port.rate_text, *port.rate_gbps, best);
  }

  // An interface without RDMA may be down because nobody needs it.
  void interfaces(const Nic& nic) {
    const RdmaPort* port = hardware_port(nic);
    if (port == nullptr || nic.link_type != LinkType::kEthernet) return;
    for (const NetInterface& netdev : nic.netdevs) {
      if (netdev.admin_up == false)
        say("{}: interface {} is off ({})", name_of(nic), netdev.name,
            Command{"ip", "link", "set", "dev"}.value(netdev.name).words({"up"}));
      else if (netdev.carrier == false && port->state != "DOWN")
        say("{}: interface {} has no carrier", name_of(nic), netdev.name);
    }
  }

  void pcie_speed(const PciDevice& pci, const std::string& name) {
    if (!pci.link) return;
    const PcieLink& link = *pci.link;
    const std::string now = pcie_text(link.speed_gts, link.width);
    if (is_below_possible(link))
      say("{}: PCIe at {}, both ends can {}", name, now, pcie_possible(link));
    else if (link.width < link.max_width)
      say("{}: PCIe at {}: its slot has no more lanes, the card could use {}", name, now, link.max_width);
  }

  void vfs(const Nic& nic) {
    if (nic.total_vfs.value_or(1) > 0) return;
    const bool others_can = std::ranges::any_of(equals_.at(board_kind(nic)),
                                                [](const Nic* equal) { return equal->total_vfs.value_or(0) > 0; });
    if (!others_can) return;
    say("{}: it makes no VFs (sriov_totalvfs is 0), others of its kind do: its firmware has SR-IOV off{}", name_of(nic),
        nic.pci.vendor == "15b3" ? fmt::format(" ({})", Command{"mlxconfig", "-d"}
                                                            .value(nic.pci.address.to_string())
                                                            .words({"query", "SRIOV_EN", "NUM_OF_VFS"}))
                                 : "");
  }

  void firmware(const std::vector<const Nic*>& nics) {
    std::map<std::string, std::vector<std::string>> by_version;
    for (const Nic* nic : nics)
      if (!nic->firmware.empty()) by_version[nic->firmware].push_back(name_of(*nic));
    if (by_version.size() < 2) return;
    std::vector<std::string> parts;
    for (const auto& [version, names] : by_version)
      parts.push_back(fmt::format("{} on {}", version, fmt::join(names, ", ")));
    const std::string model = short_model(nics.front()->pci.model);
    say("firmware differs among equal cards{}: {}", model.empty() ? "" : fmt::format(" ({})", model),
        fmt::join(parts, "; "));
  }

  const NodeFacts& facts_;
  std::map<BoardKind, std::vector<const Nic*>> equals_;
  std::vector<std::string> lines_;
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

std::vector<std::string> troubles_of(const NodeFacts& facts) {
  return Troubles(facts).find();
}

}  // namespace railbed::facts
