// SPDX-License-Identifier: Apache-2.0
// Which port is which rail, on nodes that are written down in a few words: what crossed or miscounted rails once.
#include "facts/rails.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/format.h"
#include "facts/gpu_paths.h"

namespace railbed::facts {
namespace {

// Addresses below one PCIe switch share the bus of their root port; each GPU below has its own, unless the case says
// otherwise.
PciDevice below_switch(int root, int slot, std::optional<int> numa = std::nullopt) {
  PciDevice device;
  device.address = {.domain = 0, .bus = static_cast<uint8_t>(root + 2 + slot), .device = 0, .function = 0};
  device.bridges = {
      {.domain = 0, .bus = static_cast<uint8_t>(root), .device = 1, .function = 0},
      {.domain = 0, .bus = static_cast<uint8_t>(root + 1), .device = 0, .function = 0},
      {.domain = 0, .bus = static_cast<uint8_t>(root + 2), .device = static_cast<uint8_t>(slot), .function = 0}};
  device.numa_node = numa;
  return device;
}

struct Card {
  int root = 0;  // the bus of the root port: one switch below it
  int slot = 1;
  std::string device = "1021";  // ConnectX-7
  double gbps = 400;
  std::string state = "ACTIVE";
  LinkType link_type = LinkType::kEthernet;
  int function = 0;
  std::string transport = {};
};

class Node {
 public:
  Node& gpu(int root, int slot = 0) {
    facts_.gpus.push_back({below_switch(root, slot, root < 0x80 ? 0 : 1)});
    return *this;
  }
  Node& nic(const Card& card) {
    Nic nic;
    nic.pci = below_switch(card.root, card.slot, card.root < 0x80 ? 0 : 1);
    nic.pci.address.function = static_cast<uint8_t>(card.function);
    nic.pci.vendor = "15b3";
    nic.pci.device = card.device;
    nic.link_type = card.link_type;
    RdmaPort port{.link_type = card.link_type, .state = card.state, .rate_gbps = card.gbps};
    if (card.link_type == LinkType::kInfiniband) {
      port.subnet_prefix = 0xfe80000000000000;
      port.sm_lid = 1;
    }
    nic.rdma.push_back(
        {.name = fmt::format("mlx5_{}", facts_.nics.size()), .transport = card.transport, .ports = {port}});
    facts_.nics.push_back(std::move(nic));
    return *this;
  }
  Nic& last() { return facts_.nics.back(); }

  NodeFacts facts() {
    std::ranges::sort(facts_.nics, {}, [](const Nic& nic) { return nic.pci.address; });
    for (Nic& nic : facts_.nics) nic.gpus = gpu_paths(nic.pci, facts_.gpus, NumaNodes::kSeveral);
    return facts_;
  }
  // "0 s 1": rail 0, storage, rail 1, in the order of addresses; "f" for the front end, "u" for unused.
  std::string roles(const RailChoice& choice = {}) {
    std::string text;
    for (const NicRole& role : roles_of(facts(), choice))
      text += (text.empty() ? "" : " ") +
              (role.rail ? std::to_string(*role.rail) : std::string(role_name(role.role).substr(0, 1)));
    return text;
  }
  std::string reason(size_t position) { return roles_of(facts()).at(position).reason; }

 private:
  NodeFacts facts_;
};

// Four GPUs, each with a port below its switch.
Node four() {
  Node node;
  for (int root : {0x10, 0x30, 0x90, 0xb0}) node.gpu(root).nic({.root = root});
  return node;
}

TEST(Rails, EachGpuHasItsPort) {
  EXPECT_EQ(four().roles(), "0 1 2 3");
  EXPECT_EQ(four().reason(2), "nearest to GPU 2 (PIX)");
}

TEST(Rails, APortThatIsDownKeepsItsNumber) {
  for (const char* state : {"DOWN", "INIT"}) {
    Node node;
    node.gpu(0x10).nic({.root = 0x10}).gpu(0x30).nic({.root = 0x30, .gbps = 10, .state = state});
    node.gpu(0x90).nic({.root = 0x90});
    EXPECT_EQ(node.roles(), "0 1 2") << state;
  }
}

TEST(Rails, ACardThatIsMissingLeavesAHole) {
  Node node;
  node.gpu(0x10).nic({.root = 0x10}).gpu(0x30).gpu(0x90).nic({.root = 0x90}).gpu(0xb0).nic({.root = 0xb0});
  EXPECT_EQ(node.roles(), "0 2 3");
}

TEST(Rails, SlowerPortsBesideTheGpusAreForStorage) {
  Node node = four();
  node.nic({.root = 0x10, .slot = 2, .device = "101d", .gbps = 100});
  node.nic({.root = 0x90, .slot = 2, .device = "101d", .gbps = 100});
  EXPECT_EQ(node.roles(), "0 s 1 2 s 3");
  EXPECT_EQ(node.reason(1), "100G, the rails have 400G");
}

TEST(Rails, SlowerPortsNearEveryGpuDoNotDisplaceFastOnesThatLackACard) {
  Node node;
  node.gpu(0x10).nic({.root = 0x10}).gpu(0x30);
  for (int root : {0x10, 0x30}) node.nic({.root = root, .slot = 2, .device = "101d", .gbps = 100});
  EXPECT_EQ(node.roles(), "0 s s");
}

TEST(Rails, OneOfSeveralEqualPortsIsTheGpusOwn) {
  Node node = four();
  node.nic({.root = 0x30, .slot = 2}).nic({.root = 0x30, .slot = 2, .function = 1}).nic({.root = 0xb0, .slot = 2});
  EXPECT_EQ(node.roles(), "0 1 s s 2 3 s");
  EXPECT_EQ(node.reason(2), "the GPUs near it have other ports as their rails");
  EXPECT_EQ(node.reason(6),
            "as near to GPU 3 and as fast as 0000:b3:00.0, the rail: they differ only in the order of addresses");
}

TEST(Rails, OfEqualPortsTheOneAloneOnItsCardIsTheGpusOwn) {
  Node node;
  for (int root : {0x10, 0x30, 0x50, 0x90, 0xb0}) node.gpu(root).nic({.root = root, .slot = 2});
  for (int root : {0x30, 0x90}) node.nic({.root = root, .slot = 1}).nic({.root = root, .slot = 1, .function = 1});
  EXPECT_EQ(node.roles(), "0 s s 1 2 s s 3 4");
}

TEST(Rails, TwoPortsForEachGpuAreTwoRailsAndAnUncabledOneIsNone) {
  Node both;
  Node one;
  for (int root : {0x10, 0x30, 0x90}) {
    both.gpu(root).nic({.root = root}).nic({.root = root, .function = 1});
    one.gpu(root).nic({.root = root}).nic({.root = root, .state = "DOWN", .function = 1});
  }
  EXPECT_EQ(both.roles(), "0 1 2 3 4 5");
  EXPECT_EQ(one.roles(), "0 u 1 u 2 u");
  EXPECT_EQ(one.reason(1), "this port is DOWN on every card of its kind");
}

TEST(Rails, GpusThatShareASwitchShareItsPort) {
  Node node;
  for (int root : {0x10, 0x30, 0x90}) {
    node.gpu(root, 0).gpu(root, 3);
    if (root != 0x30) node.nic({.root = root, .slot = 1});
  }
  EXPECT_EQ(node.roles(), "0 2");
  EXPECT_EQ(node.reason(1), "nearest to GPUs 4, 5 (PIX)");
}

// GB200: every GPU and NIC has its own PCI domain. The DPUs' ports are Ethernet and slower.
TEST(Rails, WithoutAnAffinityTheFastestKindIsNumberedByAddress) {
  Node node;
  for (int root : {0x08, 0x80}) node.gpu(root);
  for (int root : {0x10, 0x90}) node.nic({.root = root, .link_type = LinkType::kInfiniband});
  for (int root : {0x20, 0xa0})
    node.nic({.root = root, .device = "a2dc", .gbps = 200})
        .nic({.root = root, .device = "a2dc", .gbps = 200, .function = 1});
  EXPECT_EQ(node.roles(), "0 s s 1 s s");
  EXPECT_EQ(node.roles({.link_type = LinkType::kEthernet}), "s 0 1 s 2 3");
}

TEST(Rails, IwarpIsNoRoce) {
  Node node;
  node.nic({.root = 0x10, .transport = "iWARP"});
  EXPECT_EQ(node.roles(), "f");
  EXPECT_EQ(node.reason(0), "it speaks iWARP, not RoCE");
}

TEST(Rails, ThePortOfTheDefaultRouteIsTheFrontEnd) {
  Node node;
  node.nic({.root = 0x10}).nic({.root = 0x30});
  node.last().netdevs.push_back({.name = "eth0", .has_default_route = true});
  EXPECT_EQ(node.roles(), "0 f");
  EXPECT_EQ(node.reason(1), "the host uses it: default route");
}

TEST(Rails, WithoutRdmaOnlyWhoAsksForItGetsRails) {
  Node node;
  node.nic({.root = 0x10});
  node.last().rdma.clear();
  EXPECT_EQ(node.roles(), "f");
  EXPECT_EQ(node.roles({.rdma = RdmaNeed::kAny}), "0");
}

TEST(Rails, PortsOfTheSmallerFabricAreForStorage) {
  Node node;
  for (int root : {0x10, 0x20, 0x30, 0x40}) node.nic({.root = root, .link_type = LinkType::kInfiniband});
  node.last().rdma[0].ports[0].subnet_prefix = 0xb;
  node.nic({.root = 0x50, .state = "DOWN", .link_type = LinkType::kInfiniband});
  EXPECT_EQ(node.roles(), "0 1 2 s 3");
  EXPECT_EQ(node.reason(3), "it is in another fabric (subnet prefix 000000000000000b)");
}

// One cable shows as two functions of two domains; the second ports have no cable.
TEST(Rails, SecondPortsWithoutACableAreUnused) {
  Node node;
  for (int root : {0x10, 0x30}) node.nic({.root = root}).nic({.root = root, .state = "DOWN", .function = 1});
  EXPECT_EQ(node.roles(), "0 u 1 u");
  // Without GPUs, one with an address is the host's.
  node.last().netdevs.push_back({.name = "eth3", .addresses = {IpPrefix::parse("10.0.0.3/24").value()}});
  EXPECT_EQ(node.roles(), "0 u 1 f");
}

TEST(Rails, APortThatIsDownAndSetUpKeepsItsRail) {
  const auto two_ports_each = [](const auto& set_up) {
    Node node;
    for (int root : {0x10, 0x30}) {
      node.gpu(root).nic({.root = root}).nic({.root = root, .state = "DOWN", .function = 1});
      set_up(node.last());
    }
    return node;
  };
  EXPECT_EQ(two_ports_each([](Nic&) {}).roles(), "0 u 1 u");
  EXPECT_EQ(two_ports_each([](Nic& nic) { nic.num_vfs = 4; }).roles(), "0 1 2 3");
  EXPECT_EQ(two_ports_each([](Nic& nic) {
              nic.netdevs.push_back({.name = "eth", .addresses = {IpPrefix::parse("10.0.0.3/24").value()}});
            }).roles(),
            "0 1 2 3");
  EXPECT_EQ(two_ports_each([](Nic& nic) {
              nic.netdevs.push_back({.name = "eth", .addresses = {IpPrefix::parse("fe80::3/64").value()}});
            }).roles(),
            "0 u 1 u");
  EXPECT_EQ(two_ports_each([](Nic& nic) {
              nic.rdma[0].ports[0].gids.push_back({.index = 3, .gid = IpAddress::parse("10.0.0.3").value().to_gid()});
            }).roles(),
            "0 1 2 3");
}

TEST(Rails, RailsThatAreAllDownAreStillThoseOfTheGpus) {
  Node node;
  for (int root : {0x10, 0x30, 0x90, 0xb0}) node.gpu(root).nic({.root = root, .gbps = 10, .state = "DOWN"});
  node.nic({.root = 0x10, .slot = 2, .device = "101d", .gbps = 100});
  node.nic({.root = 0x90, .slot = 2, .device = "101d", .gbps = 100});
  EXPECT_EQ(node.roles(), "0 s 1 2 s 3");
  // Without GPUs only a link that is up shows that the port is used.
  Node without;
  without.nic({.root = 0x10, .device = "1572", .gbps = 10, .state = "DOWN"})
      .nic({.root = 0x20, .device = "1572", .gbps = 10, .state = "DOWN"})
      .nic({.root = 0x30});
  EXPECT_EQ(without.roles(), "s s 0");
}

TEST(Rails, APortThatIsDownStaysInItsFabric) {
  for (const char* state : {"ACTIVE", "DOWN", "INIT"}) {
    Node node;
    for (int root : {0x10, 0x20, 0x30}) node.nic({.root = root, .link_type = LinkType::kInfiniband});
    for (int root : {0x40, 0x50}) {
      node.nic({.root = root, .state = root == 0x40 ? state : "ACTIVE", .link_type = LinkType::kInfiniband});
      node.last().rdma[0].ports[0].subnet_prefix = 0xfe80000000000002;
    }
    node.nic({.root = 0x60, .link_type = LinkType::kInfiniband});
    EXPECT_EQ(node.roles(), "0 1 2 s s 3") << state;
  }
}

// --- a GPU that is missing

// `gpus` GPUs with a port each, a pair below every switch, but for the GPUs in `lost`.
Node with_lost(int gpus, const std::set<int>& lost) {
  Node node;
  for (int i = 0; i < gpus; ++i) {
    if (!lost.contains(i)) node.gpu(0x10 + 0x10 * i);
    node.nic({.root = 0x10 + 0x10 * i});
  }
  return node;
}

std::string lost_rails(Node node) {
  std::string text;
  for (const NicRole& role : roles_of(node.facts()))
    if (role.lost_gpu) text += fmt::format("{}{}", text.empty() ? "" : " ", role.rail.value_or(-1));
  return text;
}

TEST(Rails, AMissingGpuShiftsNone) {
  for (const std::set<int>& lost : std::vector<std::set<int>>{{0}, {3}, {7}, {2, 5}, {0, 1}, {6, 7}, {1, 4, 7}}) {
    EXPECT_EQ(with_lost(8, lost).roles(), "0 1 2 3 4 5 6 7") << fmt::format("{}", fmt::join(lost, " "));
    EXPECT_EQ(lost_rails(with_lost(8, lost)), fmt::format("{}", fmt::join(lost, " ")));
  }
  EXPECT_EQ(with_lost(8, {3}).reason(3), "it sits like the other rails; 1 of the 1 GPU near it is missing");
  EXPECT_EQ(with_lost(8, {3}).reason(4), "nearest to GPU 3 (PIX)");
  EXPECT_EQ(with_lost(4, {1}).roles(), "0 1 2 3");
  EXPECT_EQ(with_lost(2, {0}).roles(), "0 1");
  EXPECT_EQ(lost_rails(with_lost(8, {})), "");
}

// Two GPUs and two ports below each switch, in the slots 0, 1 and 2, 3.
Node pairs_with_lost(int root_lost, int slot_lost) {
  Node node;
  for (int root : {0x10, 0x30, 0x90, 0xb0}) {
    for (int slot : {0, 2})
      if (root != root_lost || slot != slot_lost) node.gpu(root, slot);
    node.nic({.root = root, .slot = 1}).nic({.root = root, .slot = 3});
  }
  return node;
}

TEST(Rails, AMissingGpuOfASwitchWithTwoShiftsNone) {
  EXPECT_EQ(pairs_with_lost(0, 0).roles(), "0 1 2 3 4 5 6 7");
  for (int root : {0x10, 0x30, 0x90, 0xb0})
    for (int slot : {0, 2}) EXPECT_EQ(pairs_with_lost(root, slot).roles(), "0 1 2 3 4 5 6 7") << root << " " << slot;
  EXPECT_EQ(lost_rails(pairs_with_lost(0x30, 2)), "2 3");
  EXPECT_EQ(pairs_with_lost(0x30, 2).reason(2), "it sits like the other rails; 1 of the 2 GPUs near it is missing");
}

TEST(Rails, AMissingGpuOfASwitchWithOnePortShiftsNone) {
  Node node;
  for (int root : {0x10, 0x30, 0x90, 0xb0}) {
    node.gpu(root, 0);
    if (root != 0x30) node.gpu(root, 3);
    node.nic({.root = root, .slot = 1});
  }
  EXPECT_EQ(node.roles(), "0 1 2 3");
  EXPECT_EQ(lost_rails(node), "1");
}

TEST(Rails, AMissingGpuWithTwoPortsLeavesBoth) {
  Node node;
  for (int root : {0x10, 0x30, 0x90, 0xb0}) {
    if (root != 0x30) node.gpu(root);
    node.nic({.root = root}).nic({.root = root, .function = 1});
  }
  EXPECT_EQ(node.roles(), "0 1 2 3 4 5 6 7");
}

TEST(Rails, APortOfItsOwnIsNoMissingGpu) {
  // Eight GPUs are all: two more equal ports are for storage, on switches of their own or at the processor.
  Node node = with_lost(8, {});
  node.nic({.root = 0xa0}).nic({.root = 0xc0});
  EXPECT_EQ(node.roles(), "0 1 2 3 4 5 6 7 s s");
  EXPECT_EQ(lost_rails(node), "");
  // Seven GPUs, and a port in another kind of slot: it may be anything.
  Node other = with_lost(7, {});
  other.nic({.root = 0xa0, .slot = 5});
  EXPECT_EQ(other.roles(), "0 1 2 3 4 5 6 s");
  // A card with two ports is not like the rails'.
  Node dual = with_lost(7, {});
  dual.nic({.root = 0xa0}).nic({.root = 0xa0, .function = 1});
  EXPECT_EQ(dual.roles(), "0 1 2 3 4 5 6 s s");
  // Nor is a port of another kind.
  Node slow = with_lost(7, {});
  slow.nic({.root = 0xa0, .device = "101d", .gbps = 100});
  EXPECT_EQ(slow.roles(), "0 1 2 3 4 5 6 s");
}

TEST(AlignRails, TheNodeWithMostRailsDefinesTheNumbers) {
  const PciAddress a{0, 1, 0, 0}, b{0, 2, 0, 0}, c{0, 3, 0, 0}, d{0, 4, 0, 0};
  std::vector<std::map<PciAddress, int>> nodes = {{{a, 0}, {c, 1}}, {{a, 0}, {b, 1}, {c, 2}}, {{a, 0}, {d, 1}}, {}};
  align_rails(nodes);
  EXPECT_EQ(nodes[0], (std::map<PciAddress, int>{{a, 0}, {c, 2}}));
  EXPECT_EQ(nodes[1], (std::map<PciAddress, int>{{a, 0}, {b, 1}, {c, 2}}));
  EXPECT_EQ(nodes[2], (std::map<PciAddress, int>{{a, 0}, {d, 1}}));
  std::vector<std::map<PciAddress, int>> none;
  align_rails(none);
  EXPECT_TRUE(none.empty());
}

TEST(Rails, NoNicsNoRoles) {
  EXPECT_TRUE(roles_of({}).empty());
}

}  // namespace
}  // namespace railbed::facts
