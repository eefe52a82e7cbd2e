// SPDX-License-Identifier: Apache-2.0
#include "facts/troubles.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "base/command.h"
#include "base/format.h"
#include "facts/evidence.h"
#include "facts/name_troubles.h"
#include "facts/pci_ids.h"
#include "facts/pcie_troubles.h"
#include "facts/ports.h"
#include "facts/rails.h"
#include "facts/rdma.h"
#include "facts/subnets.h"
#include "facts/vf_drivers.h"

namespace railbed::facts {
namespace {

using findings::Evidence;
using findings::Finding;
using findings::Subject;

// Cards that should be alike: same ids and, where known, same board.
using BoardKind = std::tuple<std::string, std::string, std::string, LinkType>;
BoardKind board_kind(const Nic& nic) {
  std::string board;
  for (const RdmaDevice& device : nic.rdma)
    if (!device.soft && board.empty()) board = device.board_id;
  return {nic.pci.vendor, nic.pci.device, board, nic.link_type};
}

// The version comes from the RDMA device or, where that has none, from devlink.
Evidence of_firmware(const Nic& nic) {
  for (const RdmaDevice& device : nic.rdma)
    if (!device.soft && device.firmware == nic.firmware)
      return in_sysfs(fmt::format("/sys/class/infiniband/{}/fw_ver", device.name), nic.firmware);
  return {.source = "devlink", .what = fmt::format("dev info pci/{}", nic.pci.address), .value = nic.firmware};
}

// A port of an RDMA device, with its card.
struct PortOfCard {
  const Nic& nic;
  const RdmaDevice& device;
  const RdmaPort& port;

  std::string name() const { return fmt::format("{} port {}", name_of(nic), port.number); }
  Subject subject() const { return subject_of(device, port); }
};

// "0-3, 6"
std::string vf_numbers(const std::vector<const Vf*>& vfs) {
  std::string text;
  for (size_t i = 0; i < vfs.size();) {
    size_t end = i;
    while (end + 1 < vfs.size() && vfs[end + 1]->index.value == vfs[end]->index.value + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", vfs[i]->index.value);
    if (end > i) text += fmt::format("-{}", vfs[end]->index.value);
    i = end + 1;
  }
  return text;
}

class Troubles {
 public:
  explicit Troubles(const NodeFacts& facts) : facts_(facts), roles_(roles_of(facts)) {
    for (const Nic& nic : facts.nics) {
      equals_[board_kind(nic)].push_back(&nic);
      for (const CardPort& port : ports_of(nic)) has_ipoib_up_ |= is_ipoib(port) && is_running(*port.netdev);
    }
  }

  std::vector<Finding> find() {
    for (size_t i = 0; i < facts_.nics.size(); ++i) {
      const Nic& nic = facts_.nics[i];
      ports(nic);
      interfaces(nic);
      ipoib(nic);
      if (roles_[i].rail) roce_mtu_of_rail(nic);
      add(pcie_troubles_of(nic));
      vfs(nic);
      vf_drivers(nic);
    }
    for (size_t i = 0; i < facts_.gpus.size(); ++i) add(pcie_troubles_of_gpu(i, facts_.gpus[i].pci));
    lost_gpus();
    add(pcie_troubles_of_switches(facts_));
    add(name_troubles_of(facts_));
    for (const SharedSubnet& subnet : shared_subnets(facts_)) shared(subnet);
    for (const auto& [kind, nics] : equals_) firmware(nics);
    return std::move(found_);
  }

 private:
  void add(std::vector<Finding> more) { std::ranges::move(more, std::back_inserter(found_)); }

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

  // An interface without RDMA may be down because it is unused.
  void interfaces(const Nic& nic) {
    const RdmaPort* port = hardware_port(nic);
    if (port == nullptr || nic.link_type != LinkType::kEthernet) return;
    for (const NetInterface& netdev : nic.netdevs) {
      const Subject subject = subject_of(netdev);
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

  static bool is_ipoib(const CardPort& port) {
    return port.netdev != nullptr && port.rdma != nullptr && !port.device->soft &&
           port.rdma->link_type == LinkType::kInfiniband;
  }

  // Files of sysfs may lack each of these.
  static bool is_running(const NetInterface& netdev) {
    return netdev.admin_up.value_or(true) && (netdev.carrier ? *netdev.carrier : netdev.oper_state == "up");
  }
  static bool is_stopped(const NetInterface& netdev) {
    return netdev.admin_up == false || netdev.carrier == false || netdev.oper_state == "down";
  }

  // Where no IPoIB runs at all it may not be wanted: verbs do not need it, rdma_cm and NCCL's bootstrap may.
  void ipoib(const Nic& nic) {
    for (const CardPort& port : ports_of(nic)) {
      if (!is_ipoib(port) || port.rdma->state != "ACTIVE" || !is_stopped(*port.netdev)) continue;
      const NetInterface& netdev = *port.netdev;
      const bool is_off = netdev.admin_up == false;
      Finding finding{.id = "RB-PORT-008",
                      .severity = has_ipoib_up_ ? doc::Severity::kWarning : doc::Severity::kNote,
                      .subject = subject_of(netdev),
                      .message = fmt::format("{}: IPoIB interface {} is {}, and its port is ACTIVE", name_of(nic),
                                             netdev.name, is_off ? "off" : "without a carrier"),
                      .evidence = {of_port(*port.device, *port.rdma, "state", port.rdma->state)},
                      .fix = "its partition must exist in the subnet manager, with the port as a member"};
      if (is_off) {
        finding.evidence.push_back(of_interface(netdev, "flags", "IFF_UP is not set"));
        finding.fix = Command{"ip", "link", "set", "dev"}.value(netdev.name).words({"up"}).to_string();
      } else {
        finding.evidence.push_back(of_interface(netdev, "operstate", netdev.oper_state));
      }
      found_.push_back(std::move(finding));
    }
  }

  void roce_mtu_of_rail(const Nic& nic) {
    constexpr int kMostMtu = 4096;  // of RoCE
    for (const CardPort& port : ports_of(nic)) {
      if (port.netdev == nullptr || port.rdma == nullptr || port.device->soft) continue;
      const bool is_down = !port.rdma->state.empty() && port.rdma->state != "ACTIVE";
      const int mtu = port.netdev->mtu;
      if (port.rdma->link_type != LinkType::kEthernet || is_down || mtu <= 0 || roce_mtu(mtu) >= kMostMtu) continue;
      warn({.id = "RB-PORT-007",
            .subject = subject_of(*port.netdev),
            .message = fmt::format("{}: interface {} of a rail has MTU {}, RoCE {}", name_of(nic), port.netdev->name,
                                   mtu, roce_mtu(mtu)),
            .evidence = {of_interface(*port.netdev, "mtu", std::to_string(mtu))},
            .fix = Command{"ip", "link", "set", "dev"}.value(port.netdev->name).words({"mtu", "9000"}).to_string()});
    }
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

  void vf_drivers(const Nic& nic) {
    const std::vector<const Vf*> vfs = vfs_without_driver(nic);
    if (vfs.empty()) return;
    const std::string driver = vf_driver(nic);
    const auto block = std::ranges::find(facts_.module_blocks, driver, &ModuleBlock::module);
    const bool is_loaded = std::ranges::find(facts_.modules, driver) != facts_.modules.end();
    Finding finding{
        .id = "RB-DRV-001",
        .subject = subject_of(nic.pci),
        .message = fmt::format("{}: {} VF{} ({}) {} no driver", name_of(nic), vfs.size(), vfs.size() == 1 ? "" : "s",
                               vf_numbers(vfs), vfs.size() == 1 ? "has" : "have"),
        .evidence = {of_function(vfs.front()->pci.address, "driver", "absent")},
        .fix = "look for their addresses in the kernel's log (dmesg)"};
    if (nic.vfs_autoprobe) finding.evidence.push_back(of_function(nic.pci.address, "sriov_drivers_autoprobe", "1"));
    if (!driver.empty() && block != facts_.module_blocks.end()) {
      const std::string place = fmt::format("{}:{}", block->file, block->line);
      finding.message += fmt::format(": {} is on a blacklist ({})", driver, place);
      finding.evidence.push_back({.source = "file", .what = place, .value = block->text});
      finding.fix = block->file == "/proc/cmdline"
                        ? "remove it from the kernel's command line and boot again"
                        : fmt::format("remove that line, then: {}", Command{"modprobe"}.value(driver));
    } else if (is_vf_module(driver) && !is_loaded) {
      finding.message += fmt::format(": {} is not loaded", driver);
      finding.evidence.push_back(in_sysfs("/sys/module/" + driver, "absent"));
      finding.fix = Command{"modprobe"}.value(driver).to_string();
    } else if (!driver.empty()) {
      finding.message += fmt::format(", though {} is loaded", driver);
    }
    warn(std::move(finding));
  }

  // A port that sits like the rails and has no GPU beside it.
  void lost_gpus() {
    std::vector<std::string> rails;
    std::vector<Evidence> evidence;
    for (size_t i = 0; i < facts_.nics.size(); ++i) {
      if (!roles_[i].rail || !roles_[i].lost_gpu) continue;
      rails.push_back(fmt::format("{} ({})", *roles_[i].rail, name_of(facts_.nics[i])));
      evidence.push_back(
          in_sysfs(fmt::format("/sys/bus/pci/devices/{}", facts_.nics[i].pci.address), "no GPU near it"));
    }
    if (rails.empty()) return;
    warn({.id = "RB-GPU-001",
          .subject = {Subject::Kind::kNode, facts_.node},
          .message = fmt::format("a GPU is missing near rail{} {}: {} are here", rails.size() == 1 ? "" : "s",
                                 fmt::join(rails, ", "), facts_.gpus.size()),
          .evidence = std::move(evidence),
          .fix = "look for Xid 79 in the kernel's log"});
  }

  void shared(const SharedSubnet& subnet) {
    const IpFamily family = subnet.network.address.family;
    if (std::ranges::all_of(subnet.members,
                            [&](const SubnetMember& one) { return is_kept_apart(*one.netdev, family); }))
      return;
    std::vector<std::string> names;
    std::vector<Evidence> evidence;
    for (const SubnetMember& one : subnet.members) {
      names.push_back(fmt::format("{} ({})", one.netdev->name, one.address));
      evidence.push_back(
          {.source = "rtnetlink", .what = "address of " + one.netdev->name, .value = one.address.to_string()});
      if (one.netdev->arp && family == IpFamily::kV4) add_arp_evidence(*one.netdev, evidence);
    }
    const bool is_v4 = family == IpFamily::kV4;
    warn({.id = "RB-HOST-001",
          .subject = subject_of(*subnet.members.front().netdev),
          .message = fmt::format("{} are in one subnet ({}): each answers and sends for the other{}",
                                 fmt::join(names, " and "), subnet.network, subnet.members.size() > 2 ? "s" : ""),
          .evidence = std::move(evidence),
          .fix = is_v4 ? "a subnet for each, or arp_ignore=1, arp_announce=2, rp_filter=2 and a routing table for each"
                       : "a subnet for each, or a rule and a routing table for each source"});
  }

  static void add_arp_evidence(const NetInterface& netdev, std::vector<Evidence>& evidence) {
    const auto add_sysctl = [&](std::string_view key, std::optional<int> value) {
      if (value)
        evidence.push_back({.source = "sysctl",
                            .what = fmt::format("net.ipv4.conf.{}.{} (or all)", netdev.name, key),
                            .value = std::to_string(*value)});
    };
    add_sysctl("arp_ignore", netdev.arp->ignore);
    add_sysctl("arp_announce", netdev.arp->announce);
    add_sysctl("rp_filter", netdev.arp->rp_filter);
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
  std::vector<NicRole> roles_;
  bool has_ipoib_up_ = false;
  std::map<BoardKind, std::vector<const Nic*>> equals_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<findings::Finding> troubles_of(const NodeFacts& facts) {
  return Troubles(facts).find();
}

}  // namespace railbed::facts
