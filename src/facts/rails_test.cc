// SPDX-License-Identifier: Apache-2.0
// Which port is which rail, on nodes that are written down in a few words: what crossed or miscounted rails once.
#include "facts/rails.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/format.h"
#include "facts/gpu_paths.h"

namespace railbed::facts {
namespace {

// Addresses below one PCIe switch share the bus of their root port; each GPU below has its own, unless told otherwise.
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
  // "0 s 1": rail 0, storage, rail 1, in the order of addresses; "f" for the front end.
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
  EXPECT_EQ(one.roles(), "0 s 1 s 2 s");
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

TEST(Rails, NoNicsNoRoles) {
  EXPECT_TRUE(roles_of({}).empty());
}

}  // namespace
}  // namespace railbed::facts
