// SPDX-License-Identifier: Apache-2.0
#include "facts/fleet.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "facts/fixture.h"
#include "facts/rails.h"

namespace railbed::facts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_fixture::pci;

// Two GPUs, each with a port of its own beside it.
NodeFacts node(const std::string& name) {
  NodeFacts facts{.node = name};
  for (int bus : {0x10, 0x90}) {
    Gpu gpu;
    gpu.pci = {.address = pci(fmt::format("0000:{:02x}:00.0", bus)), .vendor = "10de", .device = "2330"};
    facts.gpus.push_back(gpu);
    Nic nic;
    nic.pci = {.address = pci(fmt::format("0000:{:02x}:00.0", bus + 1)),
               .vendor = "15b3",
               .device = "1021",
               .link = PcieLink{.speed_gts = 32, .width = 16, .max_speed_gts = 32, .max_width = 16},
               .slot = fmt::format("{}", bus)};
    nic.link_type = LinkType::kInfiniband;
    nic.firmware = "28.43.1014";
    nic.total_vfs = 16;
    nic.rdma.push_back(
        {.name = "mlx5_0", .ports = {{.link_type = LinkType::kInfiniband, .state = "ACTIVE", .rate_gbps = 400}}});
    facts.nics.push_back(nic);
  }
  for (size_t i = 0; i < 2; ++i)
    facts.nics[i].gpus = {{.gpu = facts.gpus[i].pci.address, .kind = "PIX"},
                          {.gpu = facts.gpus[1 - i].pci.address, .kind = "SYS"}};
  return facts;
}

std::vector<std::string> differences(const std::vector<NodeFacts>& nodes) {
  std::vector<std::string> lines;
  for (const FleetGroup& group : compare_nodes(nodes))
    for (const FleetDifference& difference : group.differences)
      lines.push_back(fmt::format("{}: {}", fmt::join(difference.rails, " "), difference_text(difference)));
  return lines;
}

TEST(Fleet, AlikeNodesDifferInNothing) {
  const std::vector<FleetGroup> groups = compare_nodes({node("a"), node("b"), node("c")});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].gpu, "10de:2330");
  EXPECT_THAT(groups[0].nodes, ElementsAre("a", "b", "c"));
  EXPECT_THAT(groups[0].differences, IsEmpty());
  const FleetRail first{.number = 0,
                        .nodes = 3,
                        .card = "15b3:1021",
                        .place = "0000:11:00.0",
                        .firmware = "28.43.1014",
                        .rate = "400G",
                        .pcie = "32 GT/s x16",
                        .vfs = "16"};
  EXPECT_EQ(groups[0].rails.at(0), first);
}

TEST(Fleet, NoNodesNoGroups) {
  EXPECT_THAT(compare_nodes({}), IsEmpty());
}

TEST(Fleet, SaysWhatOneNodeHasOtherwise) {
  const struct {
    const char* name;
    std::function<void(NodeFacts&)> change;
    std::vector<std::string> said;
  } cases[] = {
      {"a NIC in another slot",
       [](NodeFacts& c) {
         c.nics[1].pci.address = pci("0000:95:00.0");
         c.nics[1].pci.slot = "7";
       },
       {"1: PCI address: 0000:91:00.0 on a, b, 0000:95:00.0 on c", "1: slot: 144 on a, b, 7 on c"}},
      {"firmware of one",
       [](NodeFacts& c) { c.nics[0].firmware = "28.39.1002"; },
       {"0: firmware: 28.43.1014 on a, b, 28.39.1002 on c"}},
      {"firmware of all",
       [](NodeFacts& c) { c.nics[0].firmware = c.nics[1].firmware = "28.39.1002"; },
       {"0 1: firmware: 28.43.1014 on a, b, 28.39.1002 on c"}},
      {"half rate",
       [](NodeFacts& c) { c.nics[1].rdma[0].ports[0].rate_gbps = 200; },
       {"1: rate: 400G on a, b, 200G on c"}},
      {"a port that is down",
       [](NodeFacts& c) { c.nics[1].rdma[0].ports[0].state = "DOWN"; },
       {"1: rate: 400G on a, b, DOWN on c"}},
      {"half of the lanes",
       [](NodeFacts& c) { c.nics[0].pci.link->width = 8; },
       {"0: PCIe: 32 GT/s x16 on a, b, 32 GT/s x8 on c"}},
      {"another card",
       [](NodeFacts& c) { c.nics[0].pci.device = c.nics[1].pci.device = "1023"; },
       {"0 1: card: 15b3:1021 on a, b, 15b3:1023 on c"}},
      {"fewer VFs", [](NodeFacts& c) { c.nics[0].total_vfs = 0; }, {"0: VFs that it can make: 16 on a, b, 0 on c"}},
      {"a card that is missing", [](NodeFacts& c) { c.nics.pop_back(); }, {"1: port: there on a, b, missing on c"}},
      {"unknown",
       [](NodeFacts& c) {
         c.nics[0].firmware = c.nics[0].pci.slot = c.nics[0].rdma[0].ports[0].state = "";
         c.nics[0].rdma[0].ports[0].rate_gbps.reset();
         c.nics[0].pci.link.reset();
         c.nics[0].total_vfs.reset();
       },
       {}},
      {"farther from its GPU",
       [](NodeFacts& c) {
         for (Nic& nic : c.nics) nic.gpus[0].kind = "PXB";
       },
       {"0 1: path to the nearest GPU: PIX on a, b, PXB on c"}},
      {"no ports", [](NodeFacts& c) { c.nics.clear(); }, {"0 1: port: there on a, b, missing on c"}},
  };
  for (const auto& one : cases) {
    NodeFacts c = node("c");
    one.change(c);
    EXPECT_EQ(differences({node("a"), node("b"), c}), one.said) << one.name;
  }
}

// A GPU that fell off the bus: its port stays the rail, and all rails are compared with those of whole nodes.
TEST(Fleet, ANodeThatLostAGpuStaysWithTheOthers) {
  for (size_t lost : {0, 1}) {
    NodeFacts c = node("c");
    const PciAddress gone = c.gpus[lost].pci.address;
    c.gpus.erase(c.gpus.begin() + static_cast<std::ptrdiff_t>(lost));
    for (Nic& nic : c.nics) std::erase_if(nic.gpus, [&](const GpuPath& path) { return path.gpu == gone; });
    c.nics[0].firmware = "28.39.1002";
    c.nics[1].pci.slot = "7";
    EXPECT_THAT(differences({node("a"), node("b"), c}),
                ElementsAre(": number of GPUs: 2 on a, b, 1 on c", "1: slot: 144 on a, b, 7 on c",
                            "0: firmware: 28.43.1014 on a, b, 28.39.1002 on c",
                            fmt::format("{}: path to the nearest GPU: PIX on a, b, SYS on c", lost)))
        << lost;
  }
}

// The recorded machine without one of its GPUs.
NodeFacts recorded_without(const std::string& name, const std::string& gpu) {
  std::string text = content(testdata() / "machines/gpu8-ib8.machine");
  const size_t at = gpu.empty() ? std::string::npos : text.find("\n" + gpu + " -> ");
  if (at != std::string::npos) text.erase(at, text.find('\n', at + 1) - at);
  NodeFacts facts = testing_fixture::facts_of(text);
  facts.node = name;
  return facts;
}

TEST(Fleet, AGpuThatIsMissingShiftsNoRailOfARecordedMachine) {
  const NodeFacts whole = recorded_without("a", "");
  ASSERT_EQ(whole.gpus.size(), 8U);
  for (size_t lost = 0; lost < 8; ++lost) {
    const NodeFacts b = recorded_without("b", whole.gpus[lost].pci.address.to_string());
    ASSERT_EQ(b.gpus.size(), 7U);
    const std::vector<NicRole> roles = roles_of(b);
    const std::vector<NicRole> before = roles_of(whole);
    for (size_t i = 0; i < roles.size(); ++i) {
      EXPECT_EQ(roles[i].rail, before[i].rail) << lost << " " << i;
      EXPECT_EQ(roles[i].lost_gpu, before[i].rail == static_cast<int>(lost)) << lost << " " << i;
    }
    EXPECT_THAT(differences({whole, b}),
                ElementsAre(": number of GPUs: 8 on a, 7 on b",
                            fmt::format("{}: path to the nearest GPU: PIX on a, NODE on b", lost)));
  }
}

// The second ports of both cards: unused on their own, and rails beside a node where they are up.
TEST(Fleet, PortsThatAreDownOnOneNodeAreRailsWhereOthersUseThem) {
  const auto dual = [](const std::string& name, const std::string& state) {
    NodeFacts facts = node(name);
    for (size_t i = 0; i < 2; ++i) {
      Nic second = facts.nics[i * 2];
      second.pci.address.function = 1;
      second.rdma[0].ports[0].state = state;
      facts.nics.insert(facts.nics.begin() + static_cast<std::ptrdiff_t>(i * 2 + 1), second);
    }
    return facts;
  };
  EXPECT_THAT(differences({dual("a", "ACTIVE"), dual("b", "ACTIVE"), dual("c", "DOWN")}),
              ElementsAre("1 3: rate: 400G on a, b, DOWN on c"));
}

TEST(Fleet, NamesThatBelongToAnotherRailAreADifference) {
  const auto named = [](const std::string& name, const char* first, const char* second) {
    NodeFacts facts = node(name);
    facts.nics[0].rdma[0].name = first;
    facts.nics[1].rdma[0].name = second;
    return facts;
  };
  const NodeFacts a = named("a", "mlx5_0", "mlx5_1");
  const NodeFacts b = named("b", "mlx5_0", "mlx5_1");
  EXPECT_THAT(
      differences({a, b, named("c", "mlx5_1", "mlx5_0")}),
      ElementsAre("0: RDMA device: mlx5_0 on a, b, mlx5_1 on c", "1: RDMA device: mlx5_1 on a, b, mlx5_0 on c"));
  EXPECT_THAT(differences({a, b, named("c", "mlx5_1", "mlx5_2")}),
              ElementsAre("0: RDMA device: mlx5_0 on a, b, mlx5_1 on c"));
  // Other names are no mistake.
  EXPECT_THAT(differences({a, b, named("c", "rocep17s0", "rocep145s0")}), IsEmpty());
  EXPECT_THAT(differences({a, b, named("c", "mlx5_4", "mlx5_5")}), IsEmpty());
}

TEST(Fleet, OtherGpusAreAnotherGroupAndAnotherServerHasOtherPlaces) {
  NodeFacts other_gpus = node("b");
  for (Gpu& gpu : other_gpus.gpus) gpu.pci.device = "2901";
  other_gpus.nics[0].firmware = "1";
  EXPECT_EQ(compare_nodes({node("a"), other_gpus}).size(), 2U);
  EXPECT_THAT(differences({node("a"), other_gpus}), IsEmpty());

  NodeFacts other_server = node("b");
  for (size_t i = 0; i < 2; ++i) {
    other_server.gpus[i].pci.address.bus += 4;
    other_server.nics[i].pci.address.bus += 4;
    for (GpuPath& path : other_server.nics[i].gpus) path.gpu.bus += 4;
  }
  other_server.nics[0].firmware = "1";
  EXPECT_THAT(differences({node("a"), other_server}), ElementsAre("0: firmware: 28.43.1014 on a, 1 on b"));
}

TEST(Fleet, ManyNodesAreCountedAndManyValuesCut) {
  std::vector<NodeFacts> nodes;
  for (int i = 0; i < 12; ++i) {
    nodes.push_back(node(fmt::format("n{}", i)));
    nodes.back().nics.pop_back();
    if (i > 5) nodes.back().nics[0].firmware = std::to_string(i);
  }
  EXPECT_THAT(differences(nodes),
              ElementsAre("0: firmware: 28.43.1014 on 6 nodes, 6 on n6, 7 on n7, 8 on n8, and 3 more"));
}

}  // namespace
}  // namespace railbed::facts
