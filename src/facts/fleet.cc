// SPDX-License-Identifier: Apache-2.0
#include "facts/fleet.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/format.h"
#include "facts/pci_ids.h"
#include "facts/pcie_troubles.h"
#include "facts/rails.h"

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

std::string device_name(const Nic& nic) {
  const auto device = std::ranges::find(nic.rdma, false, &RdmaDevice::soft);
  return device == nic.rdma.end() ? std::string() : device->name;
}

std::string rate_of(const Nic& nic) {
  const RdmaPort* port = hardware_port(nic);
  if (port != nullptr && !port->state.empty() && port->state != "ACTIVE") return port->state;
  const auto speed = port_speed(nic);
  return speed ? fmt::format("{:g}G", *speed) : "";
}

// What is compared of a port. Empty: unknown.
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
  std::vector<NicRole> roles;  // from the node's own facts
  std::map<int, const Nic*> rails;
};

Member member_of(const NodeFacts& node) {
  Member member{.node = &node, .roles = roles_of(node), .rails = {}};
  for (size_t i = 0; i < member.roles.size(); ++i)
    if (member.roles[i].rail) member.rails.emplace(*member.roles[i].rail, &node.nics[i]);
  return member;
}

std::vector<PciAddress> keys_of(const std::map<PciAddress, int>& numbers) {
  std::vector<PciAddress> keys;
  for (const auto& [address, number] : numbers) keys.push_back(address);
  return keys;
}

// Rails of `full` that `member` alone takes for other ports, as where a GPU is missing or a port is down.
void adopt_rails(const Member& full, const std::map<PciAddress, int>& numbers_of_full, const Member& member,
                 std::map<PciAddress, int>& numbers) {
  if (!std::ranges::includes(gpu_addresses(*full.node), gpu_addresses(*member.node)) ||
      !std::ranges::includes(keys_of(numbers_of_full), keys_of(numbers)))
    return;  // another type of server
  for (size_t i = 0; i < member.node->nics.size(); ++i) {
    const Nic& nic = member.node->nics[i];
    const auto number = numbers_of_full.find(nic.pci.address);
    if (number == numbers_of_full.end() || member.roles[i].role == Role::kFrontEnd) continue;
    const Nic& twin = *full.rails.at(number->second);
    if (ids_of(twin.pci) == ids_of(nic.pci) && twin.link_type == nic.link_type)
      numbers.emplace(nic.pci.address, number->second);
  }
}

// The node with most rails determines the number of an address (rails.h), and which ports are rails.
void number_alike(std::vector<Member>& members) {
  std::vector<std::map<PciAddress, int>> numbers(members.size());
  for (size_t i = 0; i < members.size(); ++i)
    for (const auto& [rail, nic] : members[i].rails) numbers[i].emplace(nic->pci.address, rail);
  align_rails(numbers);
  const auto full = std::ranges::max_element(members, {}, [](const Member& one) { return one.rails.size(); });
  if (full == members.end()) return;
  const std::map<PciAddress, int> numbers_of_full = numbers[static_cast<size_t>(full - members.begin())];
  for (size_t i = 0; i < members.size(); ++i) adopt_rails(*full, numbers_of_full, members[i], numbers[i]);
  for (size_t i = 0; i < members.size(); ++i) {
    members[i].rails.clear();
    for (const Nic& nic : members[i].node->nics)
      if (const auto at = numbers[i].find(nic.pci.address); at != numbers[i].end())
        members[i].rails.emplace(at->second, &nic);
  }
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
    number_alike(members_);
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
    compare_names(group);
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

  // The locations of the GPUs determine the type of server; a node that lacks some is of the type of one that has them
  // all.
  std::vector<PciAddress> server_of(const Member& member) const {
    std::vector<PciAddress> type = gpu_addresses(*member.node);
    for (const Member& other : members_)
      if (std::vector<PciAddress> more = gpu_addresses(*other.node);
          more.size() > type.size() && std::ranges::includes(more, type))
        type = std::move(more);
    return type;
  }

  using Servers = std::map<std::vector<PciAddress>, std::vector<const Member*>>;
  Servers servers() const {
    Servers servers;
    for (const Member& member : members_) servers[server_of(member)].push_back(&member);
    return servers;
  }

  // A device whose name belongs to another rail on most nodes: what names devices takes the wrong port here.
  void compare_names(FleetGroup& group) const {
    for (const auto& [gpus, alike] : servers()) {
      std::map<int, std::string> usual;
      std::map<std::string, int> rail_of_name;
      std::map<int, std::vector<FleetValue>> found;
      for (int rail : rails_) {
        Tally tally;
        for (const Member* member : alike)
          if (const auto at = member->rails.find(rail); at != member->rails.end())
            if (const std::string name = device_name(*at->second); !name.empty()) tally.add(name, member->node->node);
        std::vector<FleetValue> values = std::move(tally).values();
        if (values.empty()) continue;
        usual[rail] = values.front().value;
        rail_of_name.emplace(values.front().value, rail);
        found.emplace(rail, std::move(values));
      }
      for (auto& [rail, values] : found) {
        const bool is_anothers = std::ranges::any_of(values, [&](const FleetValue& one) {
          return one.value != usual[rail] && rail_of_name.contains(one.value);
        });
        if (is_anothers) differ(group, rail, "RDMA device", std::move(values));
      }
    }
  }

  void compare_aspect(const Aspect& aspect, FleetGroup& group) const {
    Servers by_type;
    if (aspect.of_server)
      by_type = servers();
    else
      for (const Member& member : members_) by_type[{}].push_back(&member);
    for (const auto& [gpus, alike] : by_type)
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
