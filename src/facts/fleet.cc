// SPDX-License-Identifier: Apache-2.0
#include "facts/fleet.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/format.h"
#include "facts/pci_ids.h"
#include "facts/rails.h"
#include "facts/troubles.h"

namespace railbed::facts {
namespace {

constexpr size_t kMostNames = 4;  // in a line
constexpr size_t kMostValues = 4;

std::string ids_of(const PciDevice& pci) {
  return pci.vendor.empty() ? "" : fmt::format("{}:{}", pci.vendor, pci.device);
}

std::string model_of(const PciDevice& pci) {
  const std::string model = short_model(pci.model);
  return model.empty() ? ids_of(pci) : model;
}

// The kinds of GPU: nodes with one that failed belong to the others.
std::string kind_of_node(const NodeFacts& node) {
  std::set<std::string> kinds;
  for (const Gpu& gpu : node.gpus) kinds.insert(ids_of(gpu.pci));
  return fmt::format("{}", fmt::join(kinds, ", "));
}

std::vector<PciAddress> gpu_addresses(const NodeFacts& node) {
  std::vector<PciAddress> addresses;
  for (const Gpu& gpu : node.gpus) addresses.push_back(gpu.pci.address);
  return addresses;
}

std::string rate_of(const Nic& nic) {
  const RdmaPort* port = hardware_port(nic);
  if (port != nullptr && !port->state.empty() && port->state != "ACTIVE") return port->state;
  const auto speed = port_speed(nic);
  return speed ? fmt::format("{:g}G", *speed) : "";
}

// What is compared of a port. Empty: not told.
struct Aspect {
  std::string_view what;
  std::string (*of)(const Nic&);
  bool of_server = false;                     // the same only in one type of server
  std::string FleetRail::* column = nullptr;  // where the group's table shows it
};

constexpr std::array<Aspect, 8> kAspects = {{
    {"card", [](const Nic& nic) { return model_of(nic.pci); }, false, &FleetRail::card},
    {"PCI address", [](const Nic& nic) { return nic.pci.address.to_string(); }, true, &FleetRail::place},
    {"slot", [](const Nic& nic) { return nic.pci.slot; }, true},
    {"firmware", [](const Nic& nic) { return nic.firmware; }, false, &FleetRail::firmware},
    {"rate", rate_of, false, &FleetRail::rate},
    {"PCIe", [](const Nic& nic) { return nic.pci.link ? pcie_text(nic.pci.link->speed_gts, nic.pci.link->width) : ""; },
     false, &FleetRail::pcie},
    {"VFs that it can make", [](const Nic& nic) { return nic.total_vfs ? fmt::format("{}", *nic.total_vfs) : ""; },
     false, &FleetRail::vfs},
    {"path to the nearest GPU", [](const Nic& nic) { return nic.gpus.empty() ? "" : nic.gpus.front().kind; }},
}};

// A node with the ports of its rails.
struct Member {
  const NodeFacts* node = nullptr;
  std::map<int, const Nic*> rails;
};

Member member_of(const NodeFacts& node) {
  Member member{.node = &node, .rails = {}};
  const std::vector<NicRole> roles = roles_of(node);
  for (size_t i = 0; i < roles.size(); ++i)
    if (roles[i].rail) member.rails.emplace(*roles[i].rail, &node.nics[i]);
  return member;
}

// Who has which value, the commonest first.
class Tally {
 public:
  void add(const std::string& value, const std::string& node) {
    auto at = std::ranges::find(values_, value, &FleetValue::value);
    if (at == values_.end()) at = values_.insert(at, {.value = value, .nodes = {}});
    at->nodes.push_back(node);
  }
  std::vector<FleetValue> values() && {
    std::ranges::stable_sort(values_, std::greater(), [](const FleetValue& one) { return one.nodes.size(); });
    return std::move(values_);
  }

 private:
  std::vector<FleetValue> values_;
};

class Comparison {
 public:
  explicit Comparison(std::vector<Member> members) : members_(std::move(members)) {
    for (const Member& member : members_)
      for (const auto& [rail, nic] : member.rails) rails_.insert(rail);
  }

  FleetGroup compare() {
    const auto& gpus = members_.front().node->gpus;
    FleetGroup group{
        .gpu = gpus.empty() ? "" : model_of(gpus.front().pci), .nodes = {}, .rails = {}, .differences = {}};
    for (const Member& member : members_) group.nodes.push_back(member.node->node);
    compare_gpus(group);
    compare_presence(group);
    for (int rail : rails_) group.rails.push_back(rail_of(rail));
    for (const Aspect& aspect : kAspects) compare_aspect(aspect, group);
    return group;
  }

 private:
  static void differ(FleetGroup& group, std::optional<int> rail, std::string_view what,
                     std::vector<FleetValue> values) {
    if (values.size() < 2) return;
    for (FleetDifference& known : group.differences)
      if (rail && !known.rails.empty() && known.what == what && known.values == values) {
        known.rails.push_back(*rail);
        return;
      }
    group.differences.push_back({.rails = rail ? std::vector{*rail} : std::vector<int>(),
                                 .what = std::string(what),
                                 .values = std::move(values)});
  }

  void compare_gpus(FleetGroup& group) const {
    Tally tally;
    for (const Member& member : members_) tally.add(fmt::format("{}", member.node->gpus.size()), member.node->node);
    differ(group, std::nullopt, "number of GPUs", std::move(tally).values());
  }

  void compare_presence(FleetGroup& group) const {
    for (int rail : rails_) {
      Tally tally;
      for (const Member& member : members_)
        tally.add(member.rails.contains(rail) ? "there" : "missing", member.node->node);
      differ(group, rail, "port", std::move(tally).values());
    }
  }

  FleetRail rail_of(int number) const {
    FleetRail rail{.number = number};
    for (const Member& member : members_) rail.nodes += member.rails.contains(number);
    for (const Aspect& aspect : kAspects) {
      if (aspect.column == nullptr) continue;
      std::string& shown = rail.*aspect.column;
      for (const Member& member : members_) {
        const auto at = member.rails.find(number);
        const std::string value = at == member.rails.end() ? "" : aspect.of(*at->second);
        if (value.empty() || value == shown) continue;
        shown = shown.empty() ? value : std::string(kDiffers);
        if (shown == kDiffers) break;
      }
    }
    return rail;
  }

  void compare_aspect(const Aspect& aspect, FleetGroup& group) const {
    // Nodes of which type of server, told by where their GPUs are; of one type as far as all others go.
    std::map<std::vector<PciAddress>, std::vector<const Member*>> servers;
    for (const Member& member : members_)
      servers[aspect.of_server ? gpu_addresses(*member.node) : std::vector<PciAddress>()].push_back(&member);
    for (const auto& [gpus, alike] : servers)
      for (int rail : rails_) {
        Tally tally;
        for (const Member* member : alike)
          if (const auto at = member->rails.find(rail); at != member->rails.end())
            if (const std::string value = aspect.of(*at->second); !value.empty()) tally.add(value, member->node->node);
        differ(group, rail, aspect.what, std::move(tally).values());
      }
  }

  std::vector<Member> members_;
  std::set<int> rails_;
};

std::string names(const std::vector<std::string>& nodes) {
  if (nodes.size() > kMostNames) return fmt::format("{} nodes", nodes.size());
  return fmt::format("{}", fmt::join(nodes, ", "));
}

}  // namespace

std::vector<FleetGroup> compare_nodes(const std::vector<NodeFacts>& nodes) {
  std::map<std::string, std::vector<Member>> kinds;
  for (const NodeFacts& node : nodes) kinds[kind_of_node(node)].push_back(member_of(node));
  std::vector<FleetGroup> groups;
  for (auto& [kind, members] : kinds) groups.push_back(Comparison(std::move(members)).compare());
  return groups;
}

std::string difference_text(const FleetDifference& difference) {
  std::vector<std::string> parts;
  for (const FleetValue& one : difference.values) {
    if (parts.size() == kMostValues) break;
    parts.push_back(fmt::format("{} on {}", one.value, names(one.nodes)));
  }
  const size_t more = difference.values.size() - parts.size();
  return fmt::format("{}: {}{}", difference.what, fmt::join(parts, ", "),
                     more > 0 ? fmt::format(", and {} more", more) : "");
}

}  // namespace railbed::facts
