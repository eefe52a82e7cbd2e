// SPDX-License-Identifier: Apache-2.0
#include "facts/rails.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/format.h"
#include "facts/fabrics.h"
#include "facts/gpu_paths.h"
#include "facts/host_use.h"

namespace railbed::facts {
namespace {

constexpr int kSwitchRank = 1;      // PIX and PXB
constexpr int kHostBridgeRank = 2;  // PHB

bool is_dpu(const Nic& nic) {
  constexpr std::array<std::string_view, 3> kBlueFields = {"a2d2", "a2d6", "a2dc"};
  return nic.pci.vendor == "15b3" && std::ranges::find(kBlueFields, nic.pci.device) != kBlueFields.end();
}

bool speaks_rdma(const Nic& nic) {
  const RdmaPort* port = hardware_port(nic);
  if (port == nullptr) return false;
  return std::ranges::any_of(nic.rdma,
                             [](const RdmaDevice& device) { return !device.soft && device.transport.empty(); });
}

// A card's kind: its ports have one purpose, as a rule.
struct CardKind {
  LinkType link_type;
  std::string vendor;
  std::string device;
  friend auto operator<=>(const CardKind&, const CardKind&) = default;
};

CardKind card_kind(const Nic& nic) {
  return {nic.link_type, nic.pci.vendor, nic.pci.device};
}

struct Members {
  std::vector<size_t> nics;  // positions in NodeFacts::nics
  double speed_gbps = 0;     // of its fastest port that is up; 0: unknown
  size_t near_gpus = 0;      // how many GPUs have one of them near
};

// The GPUs below one switch (or host bridge) and the ports of the rails' kind near them, those alone on their card
// first.
struct GpuGroup {
  std::vector<size_t> gpus;   // positions in NodeFacts::gpus
  std::vector<size_t> ports;  // positions in NodeFacts::nics
  size_t lost = 0;            // GPUs that are missing
  size_t base = 0;            // the number of its first rail
};

// A group that has lost nothing.
struct GroupShape {
  size_t ports_per_gpu = 0;  // of most groups; 0: the GPUs of a group share its ports
  size_t ports = 0;          // of most groups
  size_t gpus = 0;           // of the largest group
  int64_t functions = 0;     // of a rail's card
  size_t rails() const { return ports_per_gpu == 0 ? ports : ports_per_gpu * gpus; }
};

// Where a port sits below its root port, without the numbers of buses: equal for equal slots of equal switches.
using Position = std::vector<std::pair<int, int>>;
Position position_of(const PciDevice& device) {
  Position position;
  for (size_t i = 1; i < device.bridges.size(); ++i)
    position.emplace_back(device.bridges[i].device, device.bridges[i].function);
  position.emplace_back(device.address.device, device.address.function);
  return position;
}

// GPUs come in these numbers to a server, so that seven are eight of which one is missing.
bool is_whole_number_of_gpus(size_t gpus) {
  return std::has_single_bit(gpus) || gpus == 10;
}

std::string speed_text(double speed_gbps) {
  return fmt::format("{:g}G", speed_gbps);
}

class RailFinder {
 public:
  RailFinder(const NodeFacts& facts, const RailChoice& choice)
      : facts_(facts), choice_(choice), roles_(facts.nics.size()) {}

  std::vector<NicRole> find() {
    gather();
    const Members* best = best_kind();
    if (best == nullptr) return std::move(roles_);
    std::vector<size_t> members = best->nics;
    speed_gbps_ = best->speed_gbps;
    link_type_ = facts_.nics[members.front()].link_type;
    drop_uncabled(members);
    if (near_rank_)
      number_by_gpu(members);
    else
      number_by_address(std::move(members));
    explain_others();
    return std::move(roles_);
  }

 private:
  const Nic& nic(size_t position) const { return facts_.nics[position]; }

  // The rank of the path between a port and a GPU; 5 where it is unknown.
  int rank(size_t position, const PciAddress& gpu) const {
    const auto path = std::ranges::find(nic(position).gpus, gpu, &GpuPath::gpu);
    return path_rank(path == nic(position).gpus.end() ? std::string_view() : path->kind);
  }
  bool is_near(size_t position, const PciAddress& gpu) const { return rank(position, gpu) <= *near_rank_; }

  void refuse(size_t position, Role role, std::string reason) {
    roles_[position] = {.role = role, .rail = std::nullopt, .reason = std::move(reason)};
    refused_.insert(position);
  }

  // The reason why a port cannot be a rail, whatever the others are; empty when there is none.
  std::string why_never(const Nic& one) const {
    if (one.link_type == LinkType::kUnknown) return "its link type is not known";
    if (choice_.rdma == RdmaNeed::kHardware && hardware_port(one) == nullptr) return "it has no RDMA device";
    if (choice_.rdma == RdmaNeed::kHardware && !speaks_rdma(one)) return "it speaks iWARP, not RoCE";
    const std::string use = host_use(one, facts_);
    // Beside a GPU an address of its own is that of a rail; elsewhere it is that of the host.
    const bool is_host_s = std::ranges::any_of(
        one.netdevs, [](const NetInterface& netdev) { return netdev.has_default_route || !netdev.master.empty(); });
    return !use.empty() && (is_host_s || facts_.gpus.empty()) ? "the host uses it: " + use : "";
  }

  void gather() {
    int nearest = kHostBridgeRank + 1;
    for (size_t i = 0; i < facts_.nics.size(); ++i) {
      if (std::string reason = why_never(nic(i)); !reason.empty()) {
        refuse(i, speaks_rdma(nic(i)) && host_use(nic(i), facts_).empty() ? Role::kStorage : Role::kFrontEnd,
               std::move(reason));
        continue;
      }
      if (choice_.link_type && nic(i).link_type != *choice_.link_type) {
        refuse(i, Role::kStorage, fmt::format("the rails are {}", name_of(*choice_.link_type)));
        continue;
      }
      Members& members = kinds_[card_kind(nic(i))];
      members.nics.push_back(i);
      members.speed_gbps = std::max(members.speed_gbps, port_speed(nic(i)).value_or(0));
      for (const Gpu& gpu : facts_.gpus) nearest = std::min(nearest, rank(i, gpu.pci.address));
    }
    if (nearest <= kHostBridgeRank) near_rank_ = std::max(nearest, kSwitchRank);
    if (!near_rank_) return;
    for (auto& [kind, members] : kinds_)
      members.near_gpus = static_cast<size_t>(std::ranges::count_if(facts_.gpus, [&](const Gpu& gpu) {
        return std::ranges::any_of(members.nics, [&](size_t i) { return is_near(i, gpu.pci.address); });
      }));
  }

  static std::string_view name_of(LinkType type) { return type == LinkType::kInfiniband ? "InfiniBand" : "Ethernet"; }

  // The kind whose ports are the rails: near as many GPUs as any (half as many will do, for cards that are missing),
  // then the fastest, then no DPU, then the most numerous, then InfiniBand. Ports that are down report no speed: where
  // all of a kind are, the number of GPUs goes before it.
  const Members* best_kind() const {
    size_t most_gpus = 0;
    for (const auto& [kind, members] : kinds_) most_gpus = std::max(most_gpus, members.near_gpus);
    const Members* best = nullptr;
    const auto merit = [&](const Members& members, bool by_speed) {
      const Nic& first = nic(members.nics.front());
      return std::tuple(by_speed ? 0 : members.near_gpus, members.speed_gbps, !is_dpu(first), members.near_gpus,
                        members.nics.size(), first.link_type == LinkType::kInfiniband);
    };
    for (const auto& [kind, members] : kinds_) {
      if (members.near_gpus * 2 < most_gpus) continue;
      const bool by_speed = best != nullptr && members.speed_gbps > 0 && best->speed_gbps > 0;
      if (best == nullptr || merit(members, by_speed) > merit(*best, by_speed)) best = &members;
    }
    return best;
  }

  // A port for which somebody has made settings is meant to have a cable.
  static bool is_set_up(const Nic& one) {
    const RdmaPort* port = hardware_port(one);
    return one.num_vfs > 0 ||
           std::ranges::any_of(one.netdevs,
                               [](const NetInterface& netdev) {
                                 return std::ranges::any_of(netdev.addresses, [](const IpPrefix& prefix) {
                                   return !prefix.address.to_gid().is_link_local();
                                 });
                               }) ||
           (port != nullptr &&
            std::ranges::any_of(port->gids, [](const GidEntry& entry) { return entry.gid.is_mapped_ipv4(); }));
  }

  // A second port that is down on every card, and that nothing is set up for, has no cable on purpose, and is no hole.
  void drop_uncabled(std::vector<size_t>& members) {
    std::set<int> cabled;
    for (size_t i : members)
      if (!is_down(nic(i)) || is_set_up(nic(i))) cabled.insert(nic(i).pci.address.function);
    const bool is_one_up = std::ranges::any_of(members, [&](size_t i) { return !is_down(nic(i)); });
    if (!is_one_up) return;
    std::erase_if(members, [&](size_t i) {
      if (cabled.contains(nic(i).pci.address.function)) return false;
      refuse(i, Role::kUnused, "this port is DOWN on every card of its kind");
      return true;
    });
  }

  // GPUs that share a switch (or a host bridge) share its ports.
  std::vector<std::vector<size_t>> gpu_groups() const {
    std::vector<std::vector<size_t>> groups;
    const NumaNodes nodes = numa_nodes_of(facts_);
    for (size_t g = 0; g < facts_.gpus.size(); ++g) {
      auto group = std::ranges::find_if(groups, [&](const std::vector<size_t>& one) {
        return path_rank(path_kind(facts_.gpus[one.front()].pci, facts_.gpus[g].pci, nodes)) <= *near_rank_ ||
               has_port_near_both(facts_.gpus[one.front()].pci.address, facts_.gpus[g].pci.address);
      });
      if (group == groups.end())
        groups.push_back({g});
      else
        group->push_back(g);
    }
    return groups;
  }

  // In a virtual machine whose switches are hidden, the paths may be known from elsewhere.
  bool has_port_near_both(const PciAddress& one, const PciAddress& other) const {
    for (size_t i = 0; i < facts_.nics.size(); ++i)
      if (is_near(i, one) && is_near(i, other)) return true;
    return false;
  }

  std::vector<size_t> ports_near(const std::vector<size_t>& group, const std::vector<size_t>& members) const {
    std::vector<size_t> near;
    for (size_t i : members)
      if (std::ranges::any_of(group, [&](size_t g) { return is_near(i, facts_.gpus[g].pci.address); }))
        near.push_back(i);
    // Of equal ports those alone on their card come first: a card with two has them for storage or the front end, where
    // the GPUs' own have one.
    std::ranges::stable_sort(near, {}, [this](size_t i) { return functions_of_card(i); });
    return near;
  }

  int64_t functions_of_card(size_t position) const {
    PciAddress card = nic(position).pci.address;
    card.function = 0;
    return std::ranges::count_if(facts_.nics, [&](const Nic& one) {
      PciAddress other = one.pci.address;
      other.function = 0;
      return other == card;
    });
  }

  // The number that occurs most often, the smaller one of two; 0 of none.
  static size_t commonest(const std::vector<size_t>& numbers) {
    std::map<size_t, size_t> counts;
    for (size_t number : numbers) ++counts[number];
    size_t best = 0;
    for (const auto& [number, count] : counts)
      if (!counts.contains(best) || count > counts[best]) best = number;
    return best;
  }

  void number_by_gpu(const std::vector<size_t>& members) {
    std::vector<GpuGroup> groups;
    for (std::vector<size_t>& gpus : gpu_groups()) {
      std::vector<size_t> ports = ports_near(gpus, members);
      groups.push_back({.gpus = std::move(gpus), .ports = std::move(ports)});
    }
    const GroupShape shape = shape_of(groups);
    find_lost_gpus(members, shape, groups);
    size_t base = 0;
    for (GpuGroup& group : groups) {
      group.base = base;
      if (group.lost == 0 && shape.ports_per_gpu == 0)
        take_for_group(group, shape.ports);
      else if (group.lost == 0)
        take_for_gpus(group, shape.ports_per_gpu);
      base += shape.ports_per_gpu == 0 ? shape.ports : shape.ports_per_gpu * (group.gpus.size() + group.lost);
    }
    for (const GpuGroup& group : groups)
      if (group.lost > 0) take_like_others(group, groups, shape);
    for (size_t i : members)
      if (!roles_[i].rail) explain_spare(i);
  }

  GroupShape shape_of(const std::vector<GpuGroup>& groups) const {
    std::vector<size_t> per_gpu, per_group, functions;
    size_t most_gpus = 0;
    for (const GpuGroup& group : groups) {
      most_gpus = std::max(most_gpus, group.gpus.size());
      if (group.ports.empty()) continue;
      per_gpu.push_back(group.ports.size() / group.gpus.size());
      per_group.push_back(group.ports.size());
      functions.push_back(static_cast<size_t>(functions_of_card(group.ports.front())));
    }
    return {.ports_per_gpu = commonest(per_gpu),
            .ports = commonest(per_group),
            .gpus = most_gpus,
            .functions = static_cast<int64_t>(commonest(functions))};
  }

  // Of `ports` those on cards like the rails'.
  std::vector<size_t> like_rails(std::vector<size_t> ports, const GroupShape& shape) const {
    std::erase_if(ports, [&](size_t i) { return functions_of_card(i) != shape.functions; });
    std::ranges::sort(ports);
    return ports;
  }

  // Ports of the rails' kind that are near no GPU, by the switch (or host bridge) that they share.
  std::vector<GpuGroup> groups_without_gpus(const std::vector<size_t>& members, const GroupShape& shape) const {
    std::vector<size_t> lonely = members;
    std::erase_if(lonely, [this](size_t i) {
      return std::ranges::any_of(facts_.gpus, [&](const Gpu& gpu) { return is_near(i, gpu.pci.address); });
    });
    std::vector<GpuGroup> groups;
    const NumaNodes nodes = numa_nodes_of(facts_);
    for (size_t i : like_rails(std::move(lonely), shape)) {
      const auto same = std::ranges::find_if(groups, [&](const GpuGroup& group) {
        return path_rank(path_kind(nic(group.ports.front()).pci, nic(i).pci, nodes)) <= *near_rank_;
      });
      if (same == groups.end())
        groups.push_back({.gpus = {}, .ports = {i}, .lost = shape.gpus});
      else
        same->ports.push_back(i);
    }
    return groups;
  }

  std::vector<Position> positions_of(const std::vector<size_t>& ports) const {
    std::vector<Position> positions;
    positions.reserve(ports.size());
    for (size_t i : ports) positions.push_back(position_of(nic(i).pci));
    return positions;
  }

  // Whether a whole group's ports sit where these do.
  bool sit_like_others(const std::vector<size_t>& ports, const std::vector<GpuGroup>& groups,
                       const GroupShape& shape) const {
    const std::vector<Position> own = positions_of(ports);
    return std::ranges::any_of(groups, [&](const GpuGroup& other) {
      return other.gpus.size() == shape.gpus && positions_of(like_rails(other.ports, shape)) == own;
    });
  }

  // A GPU that fell off the bus leaves its port behind: a group with fewer GPUs than the others and as many ports, or a
  // switch with such ports and no GPU. Ports for storage can look the same, so the number of GPUs decides: seven of
  // eight lack one. Of a number that servers have, half may be missing, if the ports are below switches like the
  // others.
  void find_lost_gpus(const std::vector<size_t>& members, const GroupShape& shape,
                      std::vector<GpuGroup>& groups) const {
    if (shape.gpus == 0 || shape.rails() == 0) return;
    std::vector<GpuGroup> lonely = groups_without_gpus(members, shape);
    std::erase_if(lonely, [&](const GpuGroup& group) {
      return group.ports.size() != shape.rails() || !sit_like_others(group.ports, groups, shape);
    });
    size_t lost = lonely.size() * shape.gpus;
    for (GpuGroup& group : groups)
      if (group.gpus.size() < shape.gpus && like_rails(group.ports, shape).size() == shape.rails())
        lost += group.lost = shape.gpus - group.gpus.size();
    const size_t left = facts_.gpus.size();
    const bool is_below_switches = *near_rank_ == kSwitchRank && !nic(members.front()).pci.bridges.empty();
    const bool is_likely = is_whole_number_of_gpus(left) ? std::has_single_bit(left + lost) && is_below_switches
                                                         : is_whole_number_of_gpus(left + lost);
    if (lost == 0 || !is_likely) {
      for (GpuGroup& group : groups) group.lost = 0;
      return;
    }
    // In the order of addresses, as the GPUs themselves.
    for (GpuGroup& group : lonely) {
      const PciAddress& first = nic(group.ports.front()).pci.address;
      const auto after = std::ranges::find_if(groups, [&](const GpuGroup& other) {
        return first < (other.gpus.empty() ? nic(other.ports.front()).pci.address
                                           : facts_.gpus[other.gpus.front()].pci.address);
      });
      groups.insert(after, std::move(group));
    }
  }

  // Each port gets the number of the port in its place in a whole group; where there is none, that of its address.
  void take_like_others(const GpuGroup& group, const std::vector<GpuGroup>& groups, const GroupShape& shape) {
    const std::vector<size_t> ports = like_rails(group.ports, shape);
    std::vector<size_t> places(ports.size());
    for (size_t n = 0; n < places.size(); ++n) places[n] = n;
    for (const GpuGroup& other : groups) {
      if (other.lost > 0 || other.gpus.size() != shape.gpus) continue;
      const std::vector<size_t> twins = like_rails(other.ports, shape);
      if (positions_of(twins) != positions_of(ports)) continue;
      if (!std::ranges::all_of(twins, [&](size_t i) { return roles_[i].rail.has_value(); })) continue;
      for (size_t n = 0; n < twins.size(); ++n) places[n] = static_cast<size_t>(*roles_[twins[n]].rail) - other.base;
      break;
    }
    for (size_t n = 0; n < ports.size(); ++n) {
      take(ports[n], group.base + places[n],
           fmt::format("it sits like the other rails; {} of the {} GPU{} near it {} missing", group.lost, shape.gpus,
                       shape.gpus == 1 ? "" : "s", group.lost == 1 ? "is" : "are"));
      roles_[ports[n]].lost_gpu = true;
    }
  }

  void take_for_group(const GpuGroup& group, size_t ports) {
    for (size_t n = 0; n < std::min(ports, group.ports.size()); ++n)
      take(group.ports[n], group.base + n,
           fmt::format("nearest to GPUs {} ({})", fmt::join(group.gpus, ", "),
                       kind_text(group.ports[n], group.gpus.front())));
  }

  // The nearest first, so that of two GPUs below a tree of switches each gets the port of its own switch.
  void take_for_gpus(const GpuGroup& group, size_t each) {
    std::vector<size_t> near = group.ports;
    std::vector<size_t> taken(group.gpus.size());
    for (int wanted = 0; wanted <= *near_rank_; ++wanted)
      for (size_t g = 0; g < group.gpus.size(); ++g)
        std::erase_if(near, [&](size_t i) {
          const size_t gpu = group.gpus[g];
          if (taken[g] == each || rank(i, facts_.gpus[gpu].pci.address) != wanted) return false;
          take(i, group.base + g * each + taken[g]++, fmt::format("nearest to GPU {} ({})", gpu, kind_text(i, gpu)));
          return true;
        });
  }

  std::string kind_text(size_t position, size_t gpu) const {
    const auto path = std::ranges::find(nic(position).gpus, facts_.gpus[gpu].pci.address, &GpuPath::gpu);
    return path == nic(position).gpus.end() ? "" : path->kind;
  }

  void take(size_t position, size_t rail, std::string reason) {
    roles_[position] = {.role = Role::kCompute, .rail = static_cast<int>(rail), .reason = std::move(reason)};
  }

  // Where only the order of addresses made another port the rail: people may know better. Empty: something else did.
  std::string equal_rail(size_t position) const {
    for (size_t g = 0; g < facts_.gpus.size(); ++g) {
      const PciAddress& gpu = facts_.gpus[g].pci.address;
      for (size_t i = 0; i < roles_.size(); ++i)
        if (roles_[i].rail && is_near(i, gpu) && rank(i, gpu) == rank(position, gpu) &&
            port_speed(nic(i)) == port_speed(nic(position)) && functions_of_card(i) == functions_of_card(position))
          return fmt::format(
              "as near to GPU {} and as fast as {}, the rail: they differ only in the order of addresses", g,
              nic(i).pci.address);
    }
    return "";
  }

  void explain_spare(size_t position) {
    const bool near =
        std::ranges::any_of(facts_.gpus, [&](const Gpu& gpu) { return is_near(position, gpu.pci.address); });
    if (const std::string equal = equal_rail(position); !equal.empty())
      refuse(position, Role::kStorage, equal);
    else
      refuse(position, Role::kStorage,
             near ? "the GPUs near it have other ports as their rails" : "it is near no GPU, and other ports are");
  }

  void number_by_address(std::vector<size_t> members) {
    // Cards of several kinds can serve one network, where only speed distinguishes them.
    const CardKind own = card_kind(nic(members.front()));
    for (const auto& [kind, others] : kinds_)
      if (kind.link_type == link_type_ && kind != own && others.speed_gbps == speed_gbps_ &&
          is_dpu(nic(others.nics.front())) == is_dpu(nic(members.front())))
        members.insert(members.end(), others.nics.begin(), others.nics.end());
    std::ranges::sort(members);
    keep_one_fabric(members);
    size_t number = 0;
    const std::string speed = speed_gbps_ > 0 ? speed_text(speed_gbps_) + ", " : "";
    for (size_t i : members)
      take(
          i, number++,
          fmt::format("{}{}", speed, facts_.gpus.empty() ? "no GPU is here" : "no port is near a GPU: by its address"));
  }

  // Ports of one fabric reach each other. A port that no subnet manager has taken in may be of any, unless the prefix
  // that it had last is that of one.
  void keep_one_fabric(std::vector<size_t>& members) {
    if (link_type_ != LinkType::kInfiniband) return;
    const std::vector<Fabric> fabrics = group_fabrics(facts_.nics);
    const auto fabric_of = [&](size_t i) -> const Fabric* {
      for (const Fabric& fabric : fabrics)
        for (const RdmaDevice& device : nic(i).rdma)
          for (const RdmaPort& port : device.ports)
            if (std::ranges::find(fabric.ports, fmt::format("{}/{}", device.name, port.number)) != fabric.ports.end())
              return &fabric;
      return fabric_of_prefix(fabrics, nic(i));
    };
    std::map<const Fabric*, int> sizes;
    for (size_t i : members)
      if (const Fabric* fabric = fabric_of(i)) ++sizes[fabric];
    if (sizes.size() < 2) return;
    const Fabric* kept = nullptr;
    for (const Fabric& fabric : fabrics)
      if (sizes.contains(&fabric) && (kept == nullptr || sizes[&fabric] > sizes[kept])) kept = &fabric;
    std::erase_if(members, [&](size_t i) {
      const Fabric* fabric = fabric_of(i);
      if (fabric == nullptr || fabric == kept) return false;
      refuse(i, Role::kStorage, fmt::format("it is in another fabric (subnet prefix {:016x})", fabric->subnet_prefix));
      return true;
    });
  }

  // The only fabric with the prefix of a port that is not active. The default prefix is also that of a port that was
  // never configured.
  static const Fabric* fabric_of_prefix(const std::vector<Fabric>& fabrics, const Nic& one) {
    constexpr uint64_t kDefaultPrefix = 0xfe80000000000000;
    const RdmaPort* port = hardware_port(one);
    if (port == nullptr || !port->subnet_prefix || *port->subnet_prefix == kDefaultPrefix) return nullptr;
    const auto matches = [&](const Fabric& fabric) { return fabric.subnet_prefix == *port->subnet_prefix; };
    if (std::ranges::count_if(fabrics, matches) != 1) return nullptr;
    return &*std::ranges::find_if(fabrics, matches);
  }

  void explain_others() {
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i].rail || refused_.contains(i)) continue;
      const std::optional<double> speed = port_speed(nic(i));
      std::string reason = "its card is of another kind than those of the rails";
      if (nic(i).link_type != link_type_)
        reason = fmt::format("the rails are {}", name_of(link_type_));
      else if (speed && speed_gbps_ > 0 && *speed != speed_gbps_)
        reason = fmt::format("{}, the rails have {}", speed_text(*speed), speed_text(speed_gbps_));
      const bool hosts = !host_use(nic(i), facts_).empty();
      roles_[i] = {.role = hosts ? Role::kFrontEnd : Role::kStorage, .rail = std::nullopt, .reason = std::move(reason)};
    }
  }

  const NodeFacts& facts_;
  const RailChoice& choice_;
  std::vector<NicRole> roles_;
  std::set<size_t> refused_;
  std::map<CardKind, Members> kinds_;
  std::optional<int> near_rank_;  // paths up to this rank are near; absent: no port is near a GPU
  double speed_gbps_ = 0;         // of the rails
  LinkType link_type_ = LinkType::kUnknown;
};

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kCompute:
      return "compute";
    case Role::kStorage:
      return "storage";
    case Role::kFrontEnd:
      return "front end";
    case Role::kUnused:
      return "unused";
  }
  return "";
}

const RdmaPort* hardware_port(const Nic& nic) {
  for (const RdmaDevice& device : nic.rdma)
    if (!device.soft && !device.ports.empty()) return &device.ports.front();
  return nullptr;
}

bool is_down(const Nic& nic) {
  const RdmaPort* port = hardware_port(nic);
  return port != nullptr && port->state == "DOWN";
}

std::optional<double> port_speed(const Nic& nic) {
  if (is_down(nic)) return std::nullopt;
  if (const RdmaPort* port = hardware_port(nic); port != nullptr && port->rate_gbps) return port->rate_gbps;
  for (const NetInterface& netdev : nic.netdevs)
    if (netdev.speed_mbps) return *netdev.speed_mbps / 1000.0;
  return std::nullopt;
}

void align_rails(std::vector<std::map<PciAddress, int>>& nodes) {
  const auto full = std::ranges::max_element(nodes, {}, &std::map<PciAddress, int>::size);
  if (full == nodes.end()) return;
  const std::map<PciAddress, int>& numbers = *full;
  for (std::map<PciAddress, int>& rails : nodes)
    if (std::ranges::all_of(rails, [&](const auto& one) { return numbers.contains(one.first); }))
      for (auto& [address, rail] : rails) rail = numbers.at(address);
}

std::vector<NicRole> roles_of(const NodeFacts& facts, const RailChoice& choice) {
  return RailFinder(facts, choice).find();
}

}  // namespace railbed::facts
