// SPDX-License-Identifier: Apache-2.0
// Machines of which something false was once reported: hostile numbers, absent files, ports and functions of several
// kinds.
#include <gtest/gtest.h>

#include "doc/diagnostic.h"
#include "doc/json.h"
#include "facts/collect.h"
#include "facts/facts_json.h"
#include "facts/fixture.h"
#include "facts/ports.h"
#include "facts/sriov_advice.h"

namespace railbed::facts {
namespace {

using testing_fixture::facts_of;

constexpr std::string_view kCard =
    "/sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0\n"
    "[/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0]\n"
    "uevent = DRIVER=mlx5_core\\nPCI_CLASS=20000\\nPCI_ID=15B3:1021\n";

NodeFacts card(std::string_view lines) {
  return facts_of(std::string(kCard) + std::string(lines));
}

// An interface of that card; `lines` are below its folder.
std::string interface(std::string_view name, std::string_view lines, std::string_view below = "") {
  return fmt::format(
      "/sys/class/net/{0} -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/{2}net/{0}\n"
      "[/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/{2}net/{0}]\n{1}",
      name, lines, below);
}

std::string rdma(std::string_view name, std::string_view lines, std::string_view below = "") {
  return fmt::format(
      "/sys/class/infiniband/{0} -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/{2}infiniband/{0}\n"
      "[/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/{2}infiniband/{0}]\n{1}",
      name, lines, below);
}

TEST(Unusual, MoreVfsThanAnyCardHasAreCutAndReported) {
  const NodeFacts facts = card("sriov_totalvfs = 2147483647\nsriov_numvfs = 2147483647\n");
  EXPECT_EQ(facts.nics.at(0).total_vfs, 65535);
  EXPECT_EQ(facts.nics[0].num_vfs, 65535);
  EXPECT_EQ(facts.problems,
            (std::vector<std::string>{
                "sriov_totalvfs of 0000:01:00.0 is 2147483647, which is not possible for this card (0 to 65535); using "
                "65535",
                "sriov_numvfs of 0000:01:00.0 is 2147483647, which is not possible for this card (0 to 65535); using "
                "65535"}));
  const NodeFacts more = card("sriov_totalvfs = 8\nsriov_numvfs = 9\n");
  EXPECT_EQ(more.nics.at(0).num_vfs, 8);
  EXPECT_EQ(card("sriov_totalvfs = -4\n").nics.at(0).total_vfs, 0);
}

TEST(Unusual, IdsThatAreNoneAreLeftOut) {
  const NodeFacts facts =
      facts_of("[/sys/bus/pci/devices/0000:01:00.0]\nclass = 0x020000\nvendor = \x1b[31mred\ndevice = 123456\n");
  EXPECT_EQ(facts.nics.at(0).pci.vendor, "");
  EXPECT_EQ(facts.nics[0].pci.device, "");
}

TEST(Unusual, TextThatIsNotUtf8CanBeWritten) {
  const NodeFacts facts =
      card(rdma("mlx5_0", "board_id = a\xff\xfe z\nports/1/state = 4: ACTIVE\nports/1/rate = \xe2\x82\n"));
  EXPECT_EQ(facts.nics.at(0).rdma.at(0).board_id, "a\xEF\xBF\xBD\xEF\xBF\xBD z");
  doc::Diagnostics diagnostics;
  const auto source = std::make_shared<const doc::Source>(doc::Source{"facts", doc::to_json(to_value(facts), 2)});
  const std::vector<NodeFacts> again = parse_facts(source, diagnostics);
  ASSERT_EQ(again.size(), 1U) << doc::render(diagnostics);
  EXPECT_EQ(again[0], facts);
}

TEST(Unusual, WhatAFileWouldReportIsUnknownWithoutIt) {
  const NodeFacts facts = card(interface("ens1", "type = 1\nifindex = 2\niflink = 2\noperstate = up\n"));
  const NetInterface& netdev = facts.nics.at(0).netdevs.at(0);
  EXPECT_EQ(netdev.admin_up, std::nullopt);
  EXPECT_EQ(netdev.carrier, std::nullopt);
  EXPECT_EQ(netdev.mtu, 0);
  EXPECT_EQ(facts.iommu, std::nullopt);
  EXPECT_EQ(facts.unavailable, (std::vector<std::string>{"addresses", "routes"}));
  EXPECT_EQ(card("/sys/kernel/iommu_groups/\n").iommu, false);
  EXPECT_EQ(card("/sys/kernel/iommu_groups/3/\n").iommu, true);
  // A carrier cannot be read of an interface that is down; then it has none.
  EXPECT_EQ(card(interface("ens1", "mtu = 1500\nflags = 0x1002\n")).nics.at(0).netdevs.at(0).carrier, false);
}

TEST(Unusual, ADefaultRouteIsReadFromACopyOfProc) {
  const NodeFacts facts = card(interface("ens1", "mtu = 1500\n") + interface("ens2", "mtu = 1500\n") +
                               "/proc/net/route <<END\n"
                               "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
                               "ens1\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                               "ens2\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
                               "END\n");
  EXPECT_TRUE(facts.nics.at(0).netdevs.at(0).has_default_route);
  EXPECT_FALSE(facts.nics[0].netdevs.at(1).has_default_route);
  EXPECT_EQ(facts.unavailable, std::vector<std::string>{"addresses"});
}

TEST(Unusual, UnknownNumaNodesAreNoCommonOne) {
  const std::string machine = std::string(kCard) +
                              "/sys/bus/pci/devices/0000:81:00.0 -> ../../../devices/pci0000:80/0000:81:00.0\n"
                              "[/sys/devices/pci0000:80/0000:81:00.0]\n"
                              "uevent = PCI_CLASS=30200\\nPCI_ID=10DE:2330\nnuma_node = -1\n";
  EXPECT_EQ(facts_of(machine).nics.at(0).gpus.at(0).kind, "");
  const NodeFacts one = facts_of(machine + "/sys/devices/system/node/node0/cpulist = 0-63\n");
  EXPECT_EQ(one.nics.at(0).gpus.at(0).kind, "NODE");
  EXPECT_EQ(one.numa_nodes, (std::vector<NumaNode>{{.number = 0, .cpus = "0-63"}}));
}

TEST(Unusual, CoprocessorsAndScreensAreNoGpus) {
  const NodeFacts facts = facts_of(
      "[/sys/bus/pci/devices]\n"
      "0000:03:00.0/uevent = PCI_CLASS=30000\\nPCI_ID=19E5:1711\n"    // a management chip's screen
      "0000:04:00.0/uevent = PCI_CLASS=B4000\\nPCI_ID=8086:4940\n"    // QAT
      "0000:05:00.0/uevent = PCI_CLASS=B4000\\nPCI_ID=1BCF:001C\n"    // a vector engine
      "0000:06:00.0/uevent = PCI_CLASS=120000\\nPCI_ID=10EE:500C\n"   // an FPGA
      "0000:07:00.0/uevent = PCI_CLASS=30000\\nPCI_ID=1002:515E\n"    // an ES1000, another screen
      "0000:08:00.0/uevent = PCI_CLASS=30000\\nPCI_ID=10DE:2684\n"    // an RTX 4090
      "0000:09:00.0/uevent = PCI_CLASS=38000\\nPCI_ID=1002:74A1\n"    // MI300X as display controller
      "0000:0a:00.0/uevent = PCI_CLASS=120000\\nPCI_ID=1DA3:1020\n"   // Gaudi
      "0000:0b:00.0/uevent = PCI_CLASS=38000\\nPCI_ID=1AF4:1050\n");  // virtio's screen
  std::vector<std::string> ids;
  for (const Gpu& gpu : facts.gpus) ids.push_back(gpu.pci.vendor + ":" + gpu.pci.device);
  EXPECT_EQ(ids, (std::vector<std::string>{"10de:2684", "1002:74a1", "1da3:1020"}));
}

TEST(Unusual, PortsOfTwoKindsOnOneFunctionArePairedByTheirNumber) {
  const std::string device = rdma("mlx4_0",
                                  "ports/1/link_layer = InfiniBand\n"
                                  "ports/1/state = 4: ACTIVE\n"
                                  "ports/2/link_layer = Ethernet\n"
                                  "ports/2/state = 1: DOWN\n");
  const NodeFacts by_port = card(device + interface("eth2", "mtu = 1500\naddress = 02:00:00:00:00:01\ndev_port = 1\n"));
  EXPECT_EQ(by_port.nics.at(0).rdma.at(0).ports.at(1).netdev, "eth2");
  EXPECT_EQ(by_port.nics[0].rdma[0].ports[1].active_mtu, 1024);
  const std::vector<CardPort> ports = ports_of(by_port.nics[0]);
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].netdev, nullptr);
  EXPECT_EQ(ports[1].netdev->name, "eth2");
  const NodeFacts by_gid = card(device +
                                "ports/2/gids/0 = fe80:0000:0000:0000:0002:c903:0011:2233\n"
                                "ports/2/gid_attrs/ndevs/0 = eth2\n" +
                                interface("eth2", "mtu = 1500\naddress = 02:00:00:00:00:01\n"));
  EXPECT_EQ(by_gid.nics.at(0).rdma.at(0).ports.at(1).netdev, "eth2");
}

TEST(Unusual, ASubFunctionIsNoPortOfItsPf) {
  const NodeFacts facts =
      card(rdma("mlx5_0", "ports/1/state = 4: ACTIVE\nports/1/link_layer = Ethernet\n") +
           rdma("mlx5_2", "ports/1/state = 4: ACTIVE\nports/1/link_layer = Ethernet\n", "mlx5_core.sf.4/") +
           interface("p0", "mtu = 9000\naddress = 02:00:00:00:00:01\n") +
           interface("enp3s0f0s88", "mtu = 9000\naddress = 02:00:00:00:00:88\n", "mlx5_core.sf.4/"));
  ASSERT_EQ(facts.nics.at(0).netdevs.size(), 1U);
  EXPECT_EQ(facts.nics[0].netdevs[0].name, "p0");
  ASSERT_EQ(facts.nics[0].rdma.size(), 1U);
  EXPECT_EQ(facts.nics[0].rdma[0].name, "mlx5_0");
  ASSERT_EQ(facts.virtual_netdevs.size(), 1U);
  EXPECT_EQ(facts.virtual_netdevs[0].kind, "sub-function");
  ASSERT_EQ(facts.virtual_rdma.size(), 1U);
  EXPECT_FALSE(facts.virtual_rdma[0].soft);
}

TEST(Unusual, IwarpIsReported) {
  const auto transport = [](std::string_view name, std::string_view lines) {
    const NodeFacts facts =
        card(rdma(name, "ports/1/link_layer = Ethernet\nports/1/state = 4: ACTIVE\n" + std::string(lines)));
    return facts.nics.at(0).rdma.at(0).transport;
  };
  const std::string gid = "ports/1/gids/0 = fe80:0000:0000:0000:0002:c903:0011:2233\n";
  EXPECT_EQ(transport("mlx5_0", "node_type = 1: CA\n"), "");
  EXPECT_EQ(transport("cxgb4_0", "node_type = 4: RNIC\n"), "iWARP");
  EXPECT_EQ(transport("irdma0", gid + "ports/1/gid_attrs/types/0 = IB/RoCE v1\n"), "iWARP");
  EXPECT_EQ(transport("irdma0", gid + "ports/1/gid_attrs/types/0 = RoCE v2\n"), "");
  EXPECT_EQ(transport("mlx5_0", gid + "ports/1/gid_attrs/types/0 = IB/RoCE v1\n"), "");
  EXPECT_EQ(transport("irdma0", ""), "");
}

TEST(Unusual, PcieIsReadOfTheCardAndWhereItIsSlowOfTheOtherEnd) {
  const auto link = [](std::string_view lines) {
    return card(std::string(lines) +
                "/sys/bus/pci/devices/0000:00:01.0 -> ../../../devices/pci0000:00/0000:00:01.0\n"
                "[/sys/devices/pci0000:00/0000:00:01.0]\n"
                "max_link_speed = 16.0 GT/s PCIe\nmax_link_width = 8\nuevent = PCI_CLASS=60400\\nPCI_ID=8086:352A\n")
        .nics.at(0)
        .pci.link;
  };
  EXPECT_EQ(
      link(
          "current_link_speed = 8 GT/s\ncurrent_link_width = 4\nmax_link_speed = 32.0 GT/s PCIe\nmax_link_width = 16\n"),
      (PcieLink{8, 4, 32, 16, 16, 8}));
  EXPECT_EQ(link("current_link_speed = 32.0 GT/s PCIe\ncurrent_link_width = 16\nmax_link_speed = 32.0 GT/s PCIe\n"
                 "max_link_width = 16\n"),
            (PcieLink{32, 16, 32, 16, std::nullopt, std::nullopt}));
  EXPECT_EQ(link("current_link_speed = Unknown\ncurrent_link_width = 0\n"), std::nullopt);
  EXPECT_EQ(link("current_link_speed = 8 GT/s\ncurrent_link_width = 4000\n"), std::nullopt);
  EXPECT_EQ(link(""), std::nullopt);
}

TEST(Unusual, SlotsHaveNames) {
  EXPECT_EQ(card("/sys/bus/pci/slots/7/address = 0000:01:00\n").nics.at(0).pci.slot, "7");
  EXPECT_EQ(card("/sys/bus/pci/slots/8-1/address = 0000:00:01\n").nics.at(0).pci.slot, "8-1");
  EXPECT_EQ(card("/sys/bus/pci/slots/9/address = 0000:02:00\n").nics.at(0).pci.slot, "");
}

// The network function hangs off the CPU, its second function sits beside the GPU.
TEST(Unusual, DataDirectFunctionsReportTheGpuOfTheirNic) {
  std::string machine;
  const auto function = [&](std::string_view address, std::string_view path, std::string_view uevent) {
    machine +=
        fmt::format("/sys/bus/pci/devices/{0} -> ../../../devices/{1}/{0}\n[/sys/devices/{1}/{0}]\nuevent = {2}\n",
                    address, path, uevent);
  };
  for (const int domain : {0, 2}) {
    function(fmt::format("{:04x}:03:00.0", domain), fmt::format("pci{0:04x}:00/{0:04x}:00:00.0", domain),
             "PCI_CLASS=20700\\nPCI_ID=15B3:1023");
    const std::string pci = fmt::format("pci{0:04x}:00/{0:04x}:00:00.0/{0:04x}:01:00.0", domain + 8);
    function(fmt::format("{:04x}:03:00.0", domain + 8), fmt::format("{}/{:04x}:02:00.0", pci, domain + 8),
             "PCI_CLASS=80100\\nPCI_ID=15B3:2100");
    function(fmt::format("{:04x}:06:00.0", domain + 8), fmt::format("{}/{:04x}:02:03.0", pci, domain + 8),
             "PCI_CLASS=30200\\nPCI_ID=10DE:31C2");
  }
  const NodeFacts facts = facts_of(machine);
  ASSERT_EQ(facts.nics.size(), 2U);
  ASSERT_EQ(facts.gpus.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(facts.nics[i].gpus.at(0).kind, "PIX");
    EXPECT_EQ(facts.nics[i].gpus[0].gpu, facts.gpus[i].pci.address);
    EXPECT_EQ(facts.nics[i].data_direct->domain, facts.gpus[i].pci.address.domain);
  }
}

// GB10: a tree of interfaces without the folder of PCI functions is no machine without NICs.
TEST(Unusual, WithoutAFolderOfPciFunctionsNothingIsSaidOfThem) {
  const NodeFacts facts = facts_of("/sys/class/net/enp1s0f0np0/mtu = 1500\n/sys/class/net/enp1s0f0np0/type = 1\n");
  EXPECT_EQ(facts.unavailable, (std::vector<std::string>{"addresses", "routes", "PCI functions"}));
  EXPECT_EQ(sriov_advice(facts), std::vector<std::string>{"It is unknown whether a NIC can make VFs: the directory of "
                                                          "PCI functions (/sys/bus/pci/devices) does not exist."});
  EXPECT_EQ(sriov_advice(facts_of("/sys/bus/pci/devices/\n")).at(0),
            "There is no network function on this machine's PCI bus, so nothing can make VFs.");
}

TEST(Unusual, AnUnreadableNumberOfVfsIsNoneOfZero) {
  NodeFacts facts = card("");
  EXPECT_EQ(sriov_advice(facts).at(0), "No NIC here can make VFs: none has a sriov_totalvfs above 0.");
  facts.problems = {"read /sys/bus/pci/devices/0000:01:00.0/sriov_totalvfs: EACCES (Permission denied)"};
  EXPECT_EQ(sriov_advice(facts),
            std::vector<std::string>{"It is unknown whether a NIC can make VFs: sriov_totalvfs could not be read."});
}

TEST(Unusual, VfsWithoutAPfAreDistinguishedFromThoseGivenToAGuest) {
  const std::string pf =
      "[/sys/bus/pci/devices]\n0000:05:00.0/uevent = DRIVER=igb\\nPCI_CLASS=20000\\nPCI_ID=8086:1521\n";
  const std::string vf = "[/sys/bus/pci/devices]\n0000:05:10.0/uevent = PCI_CLASS=20000\\nPCI_ID=8086:1520\n";
  EXPECT_EQ(sriov_advice(facts_of(pf + vf)).at(1),
            "0000:05:10.0 is itself a VF, of a PF on the same bus; the files at hand do not link the two.");
  EXPECT_EQ(sriov_advice(facts_of(vf)).at(1),
            "0000:05:10.0 is itself a VF that was given to this machine; VFs are made where its PF is, on the host.");
  for (const std::string& line :
       sriov_advice(facts_of("[/sys/bus/pci/devices]\n"
                             "0101:00:00.0/uevent = DRIVER=mlx5_core\\nPCI_CLASS=20700\\nPCI_ID=15B3:101E\n")))
    EXPECT_EQ(line.find("mlxconfig"), std::string::npos) << line;
}

}  // namespace
}  // namespace railbed::facts
