// SPDX-License-Identifier: Apache-2.0
#include "facts/nccl_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "facts/fixture.h"
#include "facts/gpu_paths.h"
#include "facts/rails.h"

namespace railbed::facts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_fixture::pci;

std::string said(std::string_view text) {
  const auto read = parse_nccl_topology(text, "t.xml");
  return read ? "" : read.error().to_string();
}

// Two switches in each other on the first CPU, a card with two ports below the outer one, a GPU without a switch on the
// second CPU. NCCL's own dumps begin with an empty line.
constexpr std::string_view kTwoCpus = R"(
<system version="1">
  <!-- made by hand -->
  <cpu numaid="0" affinity="000000ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:08:00.0" class="0x060400" link_speed="5.0 GT/s PCIe" link_width="16">
      <pci busid="0000:0a:00.0" class="0x060400">
        <pci busid="0000:0C:00.0" class="0x030200" vendor="0x10de" link_speed="32.0 GT/s PCIe" link_width="16">
          <gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="0000:2c:00.0" count="4" tclass="0x068000"/></gpu>
        </pci>
      </pci>
      <pci busid="0000:0f:00.0" class="0x020000" vendor="0x15b3" device="0x1021">
        <nic>
          <net name="mlx5_0" dev="0" speed="200000" port="1" guid="0x1" maxconn="131072" gdr="1"/>
          <net name="mlx5_1" dev="1" speed="200000" port="2" guid="0x1" maxconn="131072" gdr="1"/>
        </nic>
      </pci>
    </pci>
    <nic><net name="eth0" dev="2"/></nic>
  </cpu>
  <cpu numaid="1"><pci busid="00010000:2c:00.0" class="0x03"/></cpu>
</system>
)";

TEST(NcclTopology, ReportsWhereGpusAndNicsAre) {
  const auto read = parse_nccl_topology(kTwoCpus, "t.xml");
  ASSERT_TRUE(read) << read.error().to_string();
  const NcclTopology expected{
      .gpus = {{.address = pci("0000:0c:00.0"), .switches = {"0000:0a:00.0", "0000:08:00.0"}, .numa_node = 0},
               {.address = pci("10000:2c:00.0"), .numa_node = 1}},
      .nics = {{.address = pci("0000:0f:00.0"), .switches = {"0000:08:00.0"}, .numa_node = 0}}};
  EXPECT_EQ(*read, expected);
}

TEST(NcclTopology, SaysWhatIsWrongAndWhere) {
  const auto in_cpu = [](const std::string& text) {
    return "<system version=\"1\">\n<cpu numaid=\"0\">\n" + text + "\n</cpu></system>";
  };
  std::string many;
  for (int i = 0; i < 1025; ++i) many += fmt::format("<pci busid=\"{:04x}:00:00.0\" class=\"0x03\"/>", i);
  std::string deep;
  for (int i = 0; i < 60'000; ++i) deep += "<pci busid=\"x\">";
  const struct {
    std::string text, message;
  } cases[] = {
      {"", "t.xml:1: not XML: no element found"},
      {"GPU0 GPU1\n", "t.xml:1: not XML: syntax error"},
      {"<system version=\"1\">\n<cpu", "t.xml:2: not XML: unclosed token"},
      {"<system version=\"1\">\n<cpu numaid=\"0\"></system>", "t.xml:2: not XML: mismatched tag"},
      {"<system version=\"1\"/><system version=\"1\"/>", "t.xml:1: not XML: junk after document element"},
      {std::string("<system version=\"1\">\0</system>", 30), "t.xml:1: not XML: not well-formed (invalid token)"},
      {"<graphs version=\"1\"/>", "t.xml:1: <graphs>: a topology of NCCL begins with <system>"},
      {"<system version=\"2\"/>", "t.xml:1: version \"2\" of the format; \"1\" is known"},
      {"<system/>", "t.xml:1: version \"\" of the format; \"1\" is known"},
      {"<system version=\"1\"/>", "t.xml: it has neither GPUs nor NICs"},
      {"<system version=\"1\"><cpu/></system>", "t.xml:1: numaid \"\" of a <cpu> is not a NUMA node number"},
      {"<system version=\"1\">\n<cpu numaid=\"-2\"/></system>",
       "t.xml:2: numaid \"-2\" of a <cpu> is not a NUMA node number"},
      {"<system version=\"1\"><cpu numaid=\"0x1&#10;\"/></system>",
       "t.xml:1: numaid \"0x1\\x0a\" of a <cpu> is not a NUMA node number"},
      {in_cpu("<pci class=\"0x03\"/>"), "t.xml:3: <pci> without a busid"},
      {in_cpu("<pci busid=\"gpu0\" class=\"0x03\">\n</pci>"), "t.xml:3: busid \"gpu0\" is not a PCI address"},
      {in_cpu("<pci busid=\"&#9;\xc2\x9b\"><nic/></pci>"), "t.xml:3: busid \"\t\\x9b\" is not a PCI address"},
      {in_cpu("<pci busid=\"0000:01:00.0\" class=\"0x03\"/>\n<pci busid=\"01:00.0\" class=\"0x02\"/>"),
       "t.xml:4: duplicate 0000:01:00.0"},
      {in_cpu(many), "t.xml:3: more than 1024 GPUs and NICs"},
      {in_cpu(deep), "t.xml:3: more than 64 elements in each other"},
      {std::string((1 << 20) + 1, ' '), "t.xml: larger than 1048576 bytes, the limit for a topology"},
      {"<!DOCTYPE lolz [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">]>\n<system version=\"1\">&b;</system>",
       "t.xml:1: a DOCTYPE, which NCCL's files never contain"},
      {"<system version=\"1\">&a;</system>", "t.xml:1: not XML: undefined entity"},
  };
  for (const auto& one : cases) EXPECT_EQ(said(one.text), one.message) << one.text.substr(0, 200);
}

// What NCCL ignores is ignored, with everything in it.
TEST(NcclTopology, UnknownElementsAreSkipped) {
  EXPECT_EQ(said("<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" class=\"0x03\"/></cpu>"
                 "<new><cpu numaid=\"x\"><pci/></cpu></new></system>"),
            "");
}

TEST(NcclTopology, PathsAreThoseOfTheMachine) {
  const NcclFunction gpu{.switches = {"b", "a"}, .numa_node = 0};
  const struct {
    NcclFunction nic;
    const char* kind;
  } cases[] = {
      {{.switches = {"b", "a"}, .numa_node = 0}, "PIX"},
      {{.switches = {"c", "a"}, .numa_node = 0}, "PXB"},
      {{.switches = {"a"}, .numa_node = 0}, "PXB"},
      {{.switches = {"d"}, .numa_node = 0}, "NODE"},
      {{.numa_node = 0}, "NODE"},
      {{.numa_node = 1}, "SYS"},
      {{}, ""},
  };
  for (const auto& one : cases) EXPECT_EQ(nccl_path_kind(one.nic, gpu), one.kind) << one.kind;
}

// A node with two GPUs, each below a switch of its own, and a NIC with two ports beside the first.
NodeFacts node() {
  NodeFacts facts;
  for (int bus : {0x10, 0x90}) {
    Gpu gpu;
    gpu.pci = {.address = pci(fmt::format("0000:{:02x}:00.0", bus + 3)),
               .vendor = "10de",
               .device = "2330",
               .class_code = "0302",
               .numa_node = bus / 0x80,
               .bridges = {pci(fmt::format("0000:{:02x}:01.0", bus)), pci(fmt::format("0000:{:02x}:00.0", bus + 1)),
                           pci(fmt::format("0000:{:02x}:00.0", bus + 2))},
               .link = PcieLink{.speed_gts = 2.5, .width = 16, .max_speed_gts = 32, .max_width = 16}};
    facts.gpus.push_back(gpu);
  }
  Nic nic;
  nic.pci = facts.gpus[0].pci;
  nic.pci.address = pci("0000:14:00.0");
  nic.pci.bridges[2] = pci("0000:12:01.0");
  nic.pci.vendor = "15b3";
  nic.pci.device = "1021";
  nic.pci.class_code = "0207";
  nic.pci.link->peer_max_width = 8;
  nic.rdma.push_back(
      {.name = "mlx5_0",
       .system_image_guid = Guid{0x946dae0300507098},
       .ports = {{.number = 1, .state = "ACTIVE", .rate_gbps = 400}, {.number = 2, .state = "DOWN", .rate_gbps = 10}}});
  nic.rdma.push_back({.name = "rxe0", .soft = true, .ports = {{}}});
  facts.nics.push_back(nic);
  facts.nics[0].gpus = gpu_paths(nic.pci, facts.gpus, NumaNodes::kSeveral);
  facts.numa_nodes = {{.number = 0, .cpus = "0-3,33"}, {.number = 1, .cpus = "4-7,100000"}};
  return facts;
}

TEST(NcclTopology, IsWrittenAsNcclReadsIt) {
  EXPECT_EQ(print_nccl_topology(node()),
            R"(<system version="1">
  <cpu numaid="0" affinity="00000002,0000000f">
    <pci busid="0000:11:00.0" class="0x060400">
      <pci busid="0000:13:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu/>
      </pci>
      <pci busid="0000:14:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="8">
        <nic>
          <net name="mlx5_0" port="1" speed="400000" guid="0x9870500003ae6d94"/>
          <net name="mlx5_0" port="2" guid="0x9870500003ae6d94"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1">
    <pci busid="0000:91:00.0" class="0x060400">
      <pci busid="0000:93:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu/>
      </pci>
    </pci>
  </cpu>
</system>
)");
}

TEST(NcclTopology, WhatIsWrittenSaysTheSameWhenRead) {
  NodeFacts facts = node();
  facts.nics[0].rdma[0].name = "m\"l<x>&5\x1b_0\xff";
  const auto read = parse_nccl_topology(print_nccl_topology(facts), "t.xml");
  ASSERT_TRUE(read) << read.error().to_string();
  const NodeFacts before = facts;
  EXPECT_THAT(take_nccl_paths(*read, facts).value(), IsEmpty());
  EXPECT_EQ(facts, before);
}

// A virtual machine: neither switches nor NUMA nodes show.
TEST(NcclTopology, GivesAVirtualMachineItsRails) {
  NodeFacts facts;
  NcclTopology topology;
  for (int i = 0; i < 4; ++i) {
    Gpu gpu;
    gpu.pci.address = pci(fmt::format("000{}:00:00.0", i + 1));
    facts.gpus.push_back(gpu);
    topology.gpus.push_back({.address = gpu.pci.address, .switches = {fmt::format("switch{}", i)}, .numa_node = i / 2});
  }
  for (int i = 0; i < 4; ++i) {
    Nic nic;
    nic.pci.address = pci(fmt::format("010{}:00:00.0", i));
    nic.link_type = LinkType::kInfiniband;
    nic.rdma.push_back({.name = fmt::format("mlx5_{}", i),
                        .ports = {{.link_type = LinkType::kInfiniband, .state = "ACTIVE", .rate_gbps = 400}}});
    nic.gpus = gpu_paths(nic.pci, facts.gpus, NumaNodes::kUnknown);
    facts.nics.push_back(nic);
    topology.nics.push_back(
        {.address = nic.pci.address, .switches = {fmt::format("switch{}", 3 - i)}, .numa_node = (3 - i) / 2});
  }
  EXPECT_THAT(take_nccl_paths(topology, facts).value(), IsEmpty());
  std::vector<int> rails;
  for (const NicRole& role : roles_of(facts)) rails.push_back(role.rail.value_or(-1));
  EXPECT_THAT(rails, ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(roles_of(facts)[0].reason, "nearest to GPU 3 (PIX)");
}

TEST(NcclTopology, GpusBelowOneHiddenSwitchShareItsPort) {
  NodeFacts facts;
  NcclTopology topology;
  for (int i = 0; i < 4; ++i) {
    Gpu gpu;
    gpu.pci.address = pci(fmt::format("000{}:00:00.0", i + 1));
    facts.gpus.push_back(gpu);
    topology.gpus.push_back({.address = gpu.pci.address, .switches = {fmt::format("switch{}", i / 2)}, .numa_node = 0});
  }
  for (int i = 0; i < 2; ++i) {
    Nic nic;
    nic.pci.address = pci(fmt::format("010{}:00:00.0", i));
    nic.link_type = LinkType::kEthernet;
    nic.rdma.push_back({.name = "mlx5", .ports = {{.state = "ACTIVE", .rate_gbps = 400}}});
    nic.gpus = gpu_paths(nic.pci, facts.gpus, NumaNodes::kUnknown);
    facts.nics.push_back(nic);
    topology.nics.push_back({.address = nic.pci.address, .switches = {fmt::format("switch{}", i)}, .numa_node = 0});
  }
  ASSERT_TRUE(take_nccl_paths(topology, facts));
  EXPECT_EQ(roles_of(facts)[0].rail, 0);
  EXPECT_EQ(roles_of(facts)[1].rail, 1);
}

TEST(NcclTopology, WhatDiffersFromTheMachineIsReportedAndTaken) {
  NodeFacts facts = node();
  const NcclTopology topology{
      .gpus = {{.address = pci("0000:13:00.0"), .numa_node = 1},
               {.address = pci("0000:93:00.0"), .numa_node = 0},
               {.address = pci("0000:a3:00.0"), .numa_node = 0}},
      .nics = {{.address = pci("0000:14:00.0"), .numa_node = 0}, {.address = pci("0000:a4:00.0"), .numa_node = 0}}};
  EXPECT_THAT(take_nccl_paths(topology, facts).value(),
              ElementsAre("mlx5_0 (0000:14:00.0): SYS instead of PIX to GPU 0000:13:00.0, NODE instead of SYS to GPU "
                          "0000:93:00.0",
                          "in it, but not here: GPU 0000:a3:00.0, NIC 0000:a4:00.0"));
  EXPECT_EQ(facts.nics[0].gpus, (std::vector<GpuPath>{{.gpu = pci("0000:93:00.0"), .kind = "NODE"},
                                                      {.gpu = pci("0000:13:00.0"), .kind = "SYS"}}));
}

TEST(NcclTopology, PhbOfAMachineIsNoDifference) {
  NodeFacts facts = node();
  facts.nics[0].gpus[0].kind = "PHB";
  const NcclTopology topology{.gpus = {{.address = pci("0000:13:00.0"), .numa_node = 0}},
                              .nics = {{.address = pci("0000:14:00.0"), .numa_node = 0}}};
  EXPECT_THAT(take_nccl_paths(topology, facts).value(), ElementsAre("here, but not in it: GPU 0000:93:00.0"));
  EXPECT_EQ(facts.nics[0].gpus[0].kind, "PHB");
}

// Two ports of a card are two functions here, one there. Data Direct: only the second function is near the GPU.
TEST(NcclTopology, FindsTheCardOfAPortAndOfDataDirect) {
  NodeFacts facts = node();
  facts.nics[0].pci.address.function = 1;
  NcclTopology topology{.gpus = {{.address = pci("0000:13:00.0"), .switches = {"s"}, .numa_node = 0}},
                        .nics = {{.address = pci("0000:14:00.0"), .numa_node = 1}}};
  facts.nics[0].gpus[0].kind = "";
  ASSERT_TRUE(take_nccl_paths(topology, facts));
  EXPECT_EQ(facts.nics[0].gpus[1].kind, "SYS");
  facts.nics[0].data_direct = pci("0008:03:00.0");
  EXPECT_EQ(take_nccl_paths(topology, facts).error().to_string(),
            "this topology is from another machine: it contains no GPU or NIC of this one");
  topology.nics.push_back({.address = pci("0008:03:00.0"), .switches = {"s"}, .numa_node = 0});
  ASSERT_TRUE(take_nccl_paths(topology, facts));
  EXPECT_EQ(facts.nics[0].gpus[0].kind, "PIX");
}

}  // namespace
}  // namespace railbed::facts
