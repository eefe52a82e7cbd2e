// SPDX-License-Identifier: Apache-2.0
// What is said of a link, by what its two ends report. Whole findings are in troubles_test.cc.
#include "facts/pcie_troubles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/fixture.h"

namespace railbed::facts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_fixture::facts_of;

std::vector<std::string> messages(const std::vector<findings::Finding>& findings) {
  std::vector<std::string> out;
  for (const findings::Finding& one : findings) out.push_back(one.id + " " + one.message);
  return out;
}

std::vector<std::string> of_link(const PcieLink& link, double gbps) {
  Nic nic;
  nic.pci.address = {0, 1, 0, 0};
  nic.pci.link = link;
  nic.rdma.push_back({.name = "m", .ports = {{.state = "ACTIVE", .rate_gbps = gbps}}});
  return messages(pcie_troubles_of(nic));
}

TEST(PcieTroubles, SayThatBothEndsCanOnlyWhereBothReport) {
  EXPECT_THAT(of_link({16, 8, 32, 16, 32, 16}, 10),
              ElementsAre("RB-PCIE-001 m (0000:01:00.0): PCIe at 16 GT/s x8, both ends can 32 GT/s x16"));
  EXPECT_THAT(of_link({16, 8, 32, 16, {}, 16}, 10),
              ElementsAre("RB-PCIE-001 m (0000:01:00.0): PCIe at 16 GT/s x8, both ends can x16"));
  EXPECT_THAT(of_link({16, 16, 32, 16, 32, {}}, 10),
              ElementsAre("RB-PCIE-001 m (0000:01:00.0): PCIe at 16 GT/s x16, both ends can 32 GT/s"));
  const auto unknown = ElementsAre(
      "RB-PCIE-006 m (0000:01:00.0): PCIe at 32 GT/s x4, the card can 32 GT/s x16; what its slot can is not known");
  EXPECT_THAT(of_link({32, 4, 32, 16, {}, {}}, 10), unknown);
  EXPECT_THAT(of_link({32, 4, 32, 16, 32, 0}, 10), unknown);
  EXPECT_THAT(of_link({32, 4, 32, 16, 32, 255}, 10), unknown);  // as some virtual machines have it
  EXPECT_THAT(
      of_link({32, 4, 32, 16, 32, 4}, 10),
      ElementsAre("RB-PCIE-002 m (0000:01:00.0): PCIe at 32 GT/s x4: its slot has no more lanes, the card could "
                  "use 16"));
  EXPECT_THAT(of_link({16, 16, 32, 16, 16, {}}, 10), IsEmpty());
  EXPECT_THAT(of_link({16, 16, 32, 16, {}, {}}, 10),
              ElementsAre("RB-PCIE-006 m (0000:01:00.0): PCIe at 16 GT/s x16, the card can 32 GT/s x16; what its slot "
                          "can is not known"));
}

TEST(PcieTroubles, WhatIsPossibleIsKnownAtTheMaximumOrByBothEnds) {
  EXPECT_EQ(pcie_possible({32, 16, 32, 16, {}, {}}), "32 GT/s x16");
  EXPECT_EQ(pcie_possible({16, 8, 32, 16, 16, 16}), "16 GT/s x16");
  EXPECT_EQ(pcie_possible({16, 8, 32, 16, 16, {}}), "");
  EXPECT_EQ(pcie_possible({16, 16, 32, 16, {}, 16}), "");
}

// At the maximum of both ends, so that nothing else is said.
std::vector<std::string> at_maximum(double gts, int lanes, double gbps) {
  return of_link({gts, lanes, gts, lanes, {}, {}}, gbps);
}

TEST(PcieTroubles, APortIsComparedWithWhatItsLinkCarries) {
  EXPECT_THAT(at_maximum(16, 8, 200),
              ElementsAre("RB-PCIE-004 m (0000:01:00.0) port 1: 200G behind PCIe at 16 GT/s x8, "
                          "which carries 126 Gb/s"));
  EXPECT_THAT(at_maximum(32, 4, 200), testing::SizeIs(1));
  EXPECT_THAT(at_maximum(16, 16, 400), testing::SizeIs(1));
  EXPECT_THAT(at_maximum(5, 8, 40), testing::SizeIs(1));
  EXPECT_THAT(at_maximum(32, 16, 800), testing::SizeIs(1));
  const struct {
    double gts;
    int lanes;
    double gbps;
  } enough[] = {{16, 8, 100}, {32, 16, 400}, {16, 16, 200}, {8, 16, 100}, {8, 8, 56}, {64, 16, 800}, {2.5, 8, 10}};
  for (const auto& one : enough)
    EXPECT_THAT(at_maximum(one.gts, one.lanes, one.gbps), IsEmpty())
        << one.gts << " x" << one.lanes << ": " << one.gbps;
}

TEST(PcieTroubles, EachPortOfACardAloneAndNoneThatIsDownOrSoft) {
  Nic nic;
  nic.pci.address = {0, 1, 0, 0};
  nic.pci.link = PcieLink{16, 8, 16, 8, {}, {}};
  nic.netdevs.push_back({.name = "eth0", .speed_mbps = 200000});
  EXPECT_THAT(messages(pcie_troubles_of(nic)),
              ElementsAre("RB-PCIE-004 eth0 (0000:01:00.0): interface eth0: 200G behind PCIe at 16 GT/s x8, which "
                          "carries 126 Gb/s"));
  nic.netdevs[0].speed_mbps = 100000;
  EXPECT_THAT(messages(pcie_troubles_of(nic)), IsEmpty());
  nic.netdevs.clear();
  nic.rdma = {{.name = "m",
               .ports = {{.number = 1, .state = "ACTIVE", .rate_gbps = 100},
                         {.number = 2, .state = "ACTIVE", .rate_gbps = 100}}}};
  EXPECT_THAT(messages(pcie_troubles_of(nic)), IsEmpty());
  nic.rdma[0].ports[1].rate_gbps = 200;
  EXPECT_THAT(messages(pcie_troubles_of(nic)), testing::SizeIs(1));
  nic.rdma[0].ports[1].state = "DOWN";
  EXPECT_THAT(messages(pcie_troubles_of(nic)), IsEmpty());
  nic.rdma[0] = {.name = "rxe0", .soft = true, .ports = {{.state = "ACTIVE", .rate_gbps = 400}}};
  EXPECT_THAT(messages(pcie_troubles_of(nic)), IsEmpty());
}

TEST(PcieTroubles, OfGpusOnlyTheLanesCount) {
  PciDevice gpu;
  gpu.address = {0, 7, 0, 0};
  const auto of = [&](const PcieLink& link) {
    gpu.link = link;
    return messages(pcie_troubles_of_gpu(3, gpu));
  };
  EXPECT_THAT(of({2.5, 16, 32, 16, 32, 16}), IsEmpty());
  EXPECT_THAT(of({32, 8, 32, 16, 32, 16}),
              ElementsAre("RB-PCIE-003 GPU 3 (0000:07:00.0): PCIe has 8 lanes, both ends can 16"));
  EXPECT_THAT(of({32, 8, 32, 16, 32, 8}), IsEmpty());
  EXPECT_THAT(of({32, 8, 32, 16, {}, {}}),
              ElementsAre("RB-PCIE-006 GPU 3 (0000:07:00.0): PCIe has 8 lanes, the GPU can 16; what the port above can "
                          "is not known"));
  EXPECT_THAT(of({32, 8, 32, 8, {}, {}}), IsEmpty());
}

// A root port, a switch (up, down), and below it another one (up, down) with a NIC.
std::string machine_with_switches(std::string_view links) {
  return "/sys/bus/pci/devices/0000:05:00.0 -> "
         "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:00.0/0000:05:00.0\n"
         "[/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:00.0/0000:05:00.0]\n"
         "uevent = DRIVER=mlx5_core\\nPCI_CLASS=20700\\nPCI_ID=15B3:1021\n"
         "[/sys/bus/pci/devices]\n" +
         std::string(links);
}

TEST(PcieTroubles, TheUplinkOfEachSwitchIsRead) {
  const NodeFacts facts = facts_of(
      machine_with_switches("0000:01:00.0/current_link_speed = 5.0 GT/s PCIe\n0000:01:00.0/current_link_width = 8\n"
                            "0000:01:00.0/max_link_speed = 32.0 GT/s PCIe\n0000:01:00.0/max_link_width = 16\n"
                            "0000:00:01.0/max_link_speed = 32.0 GT/s PCIe\n0000:00:01.0/max_link_width = 16\n"
                            "0000:03:00.0/current_link_speed = 32.0 GT/s PCIe\n0000:03:00.0/current_link_width = 16\n"
                            "0000:03:00.0/max_link_speed = 32.0 GT/s PCIe\n0000:03:00.0/max_link_width = 16\n"));
  EXPECT_THAT(facts.switches, ElementsAre(PciSwitch{{0, 1, 0, 0}, {5, 8, 32, 16, 32, 16}},
                                          PciSwitch{{0, 3, 0, 0}, {32, 16, 32, 16, {}, {}}}));
  EXPECT_THAT(
      messages(pcie_troubles_of_switches(facts)),
      ElementsAre("RB-PCIE-005 PCIe switch 0000:01:00.0 (above 0000:05:00.0): its uplink has 8 lanes, both ends "
                  "can 16"));
  EXPECT_THAT(pcie_troubles_of_switches(facts)[0].evidence.back().what,
              "/sys/bus/pci/devices/0000:00:01.0/max_link_width");
}

TEST(PcieTroubles, AnUplinkThatIsAllThereOrUnknownIsNoProblem) {
  const char* half = "0000:03:00.0/current_link_speed = 16.0 GT/s PCIe\n0000:03:00.0/current_link_width = 8\n";
  EXPECT_THAT(facts_of(machine_with_switches("")).switches, IsEmpty());
  for (const std::string& links : {
           std::string(half) + "0000:03:00.0/max_link_width = 8\n0000:03:00.0/max_link_speed = 16 GT/s\n",
           std::string(half) + "0000:03:00.0/max_link_width = 16\n0000:02:00.0/max_link_width = 8\n",
           std::string(half),
           std::string(half) + "0000:03:00.0/max_link_width = 255\n0000:02:00.0/max_link_width = 255\n",
       })
    EXPECT_THAT(messages(pcie_troubles_of_switches(facts_of(machine_with_switches(links)))), IsEmpty()) << links;
  EXPECT_THAT(
      messages(pcie_troubles_of_switches(
          facts_of(machine_with_switches(std::string(half) + "0000:03:00.0/max_link_width = 16\n")))),
      ElementsAre("RB-PCIE-006 PCIe switch 0000:03:00.0 (above 0000:05:00.0): its uplink has 8 lanes, the switch "
                  "can 16; what the port above can is not known"));
}

}  // namespace
}  // namespace railbed::facts
