// SPDX-License-Identifier: Apache-2.0
// Features of real machines on which a naive reader fails: one test each, on a machine of a few lines.
#include <gtest/gtest.h>

#include "facts/collect.h"
#include "facts/fixture.h"
#include "facts/gpu_paths.h"

namespace railbed::facts {
namespace {

using testing_fixture::facts_of;

// An InfiniBand function below its own root port, with an RDMA device of one port.
std::string rdma_machine(std::string_view name, std::string_view port) {
  return fmt::format(
      "[/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0]\n"
      "uevent = DRIVER=mlx5_core\\nPCI_CLASS=20700\\nPCI_ID=15B3:1021\\nPCI_SUBSYS_ID=15B3:0041\n"
      "/sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0\n"
      "/sys/class/infiniband/{0} -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/infiniband/{0}\n"
      "[/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/infiniband/{0}/ports/1]\n"
      "{1}",
      name, port);
}

RdmaPort port_of(std::string_view lines) {
  NodeFacts facts = facts_of(rdma_machine("mlx5_0", lines));
  EXPECT_EQ(facts.nics.size(), 1U);
  if (facts.nics.size() != 1 || facts.nics[0].rdma.size() != 1 || facts.nics[0].rdma[0].ports.size() != 1) return {};
  return facts.nics[0].rdma[0].ports[0];
}

TEST(Surprises, ClassInfinibandHoldsThingsThatAreNoHcas) {
  NodeFacts facts = facts_of(rdma_machine("mlx4_0", "state = 4: ACTIVE\nlink_layer = InfiniBand\n") +
                             "/sys/class/infiniband/scif0 -> ../../devices/scif_dma_0/infiniband/scif0\n");
  ASSERT_EQ(facts.nics.size(), 1U);
  EXPECT_EQ(facts.nics[0].rdma[0].name, "mlx4_0");
  EXPECT_TRUE(facts.virtual_rdma.empty());
  EXPECT_EQ(facts.problems, std::vector<std::string>{});
}

TEST(Surprises, NamesHaveGapsAndOtherFormsAndCountAsNumbers) {
  std::string machine;
  for (const char* name : {"mlx5_10", "mlx5_2", "mlx5_bond_0", "rocep59s0", "hfi1_0"})
    machine += fmt::format("[/sys/class/infiniband/{}/ports/1]\nstate = 4: ACTIVE\n", name);
  std::vector<std::string> names;
  for (const RdmaDevice& device : facts_of(machine).virtual_rdma) names.push_back(device.name);
  EXPECT_EQ(names, (std::vector<std::string>{"hfi1_0", "mlx5_2", "mlx5_10", "mlx5_bond_0", "rocep59s0"}));
}

TEST(Surprises, ClassesOfInfinibandFunctionsVary) {
  auto machine = [](std::string_view address, std::string_view ids, std::string_view cls) {
    return fmt::format("[/sys/bus/pci/devices/{}]\nuevent = PCI_CLASS={}\\nPCI_ID={}\\nPCI_SUBSYS_ID=15B3:0001\n",
                       address, cls, ids);
  };
  NodeFacts facts = facts_of(machine("0000:01:00.0", "15B3:1021", "20700") +  // InfiniBand
                             machine("0000:02:00.0", "15B3:1003", "28000") +  // ConnectX-3
                             machine("0000:03:00.0", "1077:7322", "C0600") +  // qib
                             machine("0000:04:00.2", "15B3:C2D5", "80100") +  // a BlueField-3's own
                             machine("0000:05:00.0", "8086:A808", "10802"));  // an NVMe disk
  std::vector<std::string> found;
  for (const Nic& nic : facts.nics) found.push_back(nic.pci.class_code);
  EXPECT_EQ(found, (std::vector<std::string>{"0207", "0280", "0c06"}));
  EXPECT_EQ(facts.nics[0].link_type, LinkType::kInfiniband);
  EXPECT_EQ(facts.nics[2].link_type, LinkType::kInfiniband);
}

TEST(Surprises, AFunctionOfAnotherClassWithAnInterfaceIsANic) {
  NodeFacts facts = facts_of(
      "[/sys/devices/pci0000:00/0000:04:00.2]\n"
      "uevent = PCI_CLASS=80100\\nPCI_ID=15B3:C2D5\\nPCI_SUBSYS_ID=15B3:0001\n"
      "net/tmfifo0/mtu = 1500\n"
      "/sys/bus/pci/devices/0000:04:00.2 -> ../../../devices/pci0000:00/0000:04:00.2\n"
      "/sys/class/net/tmfifo0 -> ../../devices/pci0000:00/0000:04:00.2/net/tmfifo0\n");
  ASSERT_EQ(facts.nics.size(), 1U);
  EXPECT_EQ(facts.nics[0].netdevs[0].name, "tmfifo0");
}

TEST(Surprises, TwoPortsOnOneFunctionOfDifferentKinds) {
  NodeFacts facts =
      facts_of(rdma_machine("mlx4_0",
                            "link_layer = InfiniBand\nstate = 4: ACTIVE\n"
                            "[/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0]\n"
                            "infiniband/mlx4_0/ports/2/link_layer = Ethernet\n"
                            "infiniband/mlx4_0/ports/2/state = 1: DOWN\n"
                            "net/ens1d1/mtu = 1500\n"
                            "net/ens1d1/address = 02:00:00:00:00:01\n"
                            "net/ens1d1/dev_port = 1\n"
                            "net/ib0/mtu = 2044\n"
                            "net/ib0/type = 32\n"
                            "net/ib0/dev_port = 0\n"
                            "/sys/class/net/ens1d1 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/net/ens1d1\n"
                            "/sys/class/net/ib0 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/net/ib0\n"));
  ASSERT_EQ(facts.nics.size(), 1U);
  const Nic& nic = facts.nics[0];
  ASSERT_EQ(nic.netdevs.size(), 2U);
  EXPECT_EQ(nic.netdevs[0].name, "ib0");  // ordered by port, not by name
  ASSERT_EQ(nic.rdma[0].ports.size(), 2U);
  EXPECT_EQ(nic.rdma[0].ports[0].link_type, LinkType::kInfiniband);
  EXPECT_EQ(nic.rdma[0].ports[1].link_type, LinkType::kEthernet);
  EXPECT_EQ(nic.rdma[0].ports[1].active_mtu, 1024);
}

TEST(Surprises, RatesWithOddWidths) {
  RdmaPort port = port_of("rate = 200 Gb/sec (2X NDR)\nstate = 4: ACTIVE\n");
  EXPECT_EQ(port.rate_gbps, 200.0);
  EXPECT_EQ(port.rate_text, "200 Gb/sec (2X NDR)");
  EXPECT_EQ(port_of("rate = 2.5 Gb/sec (1X SDR)\n").rate_gbps, 2.5);
  EXPECT_EQ(port_of("rate = N/A\n").rate_gbps, std::nullopt);
}

TEST(Surprises, ValuesWithoutTheFinalNewlineAndTextWithBlanks) {
  NodeFacts facts = facts_of(
      "[/sys/class/infiniband/mlx5_0]\n"
      "board_id := DELL PERC 7 \n"
      "ports/1/state := 4: ACTIVE\n"
      "ports/1/rate := 400 Gb/sec (4X NDR)\n");
  ASSERT_EQ(facts.virtual_rdma.size(), 1U);
  EXPECT_EQ(facts.virtual_rdma[0].board_id, "DELL PERC 7");
  EXPECT_EQ(facts.virtual_rdma[0].ports[0].state, "ACTIVE");
  EXPECT_EQ(facts.virtual_rdma[0].ports[0].rate_gbps, 400.0);
}

TEST(Surprises, OldKernelsHaveNoGidAttributes) {
  RdmaPort port = port_of(
      "link_layer = InfiniBand\n"
      "state = 4: ACTIVE\n"
      "gids/0 = fe80:0000:0000:0000:0002:c903:0011:2233\n"
      "gids/1 = 0000:0000:0000:0000:0000:0000:0000:0000\n");
  ASSERT_EQ(port.gids.size(), 1U);
  EXPECT_EQ(port.gids[0].type, "IB");
  EXPECT_EQ(port.subnet_prefix, 0xfe80000000000000U);
  RdmaPort roce = port_of("link_layer = Ethernet\ngids/0 = fe80:0000:0000:0000:0002:c903:0011:2233\n");
  ASSERT_EQ(roce.gids.size(), 1U);
  EXPECT_EQ(roce.gids[0].type, "");
}

TEST(Surprises, EmptyGidsLeaveGapsAndTheLastOneCounts) {
  std::string lines = "link_layer = Ethernet\n";
  for (int i = 0; i < 40; ++i)
    lines +=
        fmt::format("gids/{} = {}\n", i,
                    i == 39 ? "0000:0000:0000:0000:0000:ffff:0a00:0001" : "0000:0000:0000:0000:0000:0000:0000:0000");
  lines += "gid_attrs/types/39 = RoCE v2\ngid_attrs/ndevs/39 = eth7\n";
  RdmaPort port = port_of(lines);
  ASSERT_EQ(port.gids.size(), 1U);
  EXPECT_EQ(port.gids[0], (GidEntry{.index = 39,
                                    .gid = *Gid::parse("0000:0000:0000:0000:0000:ffff:0a00:0001"),
                                    .type = "RoCE v2",
                                    .netdev = "eth7"}));
  // There are many VFs and soft devices, and such a table may have hundreds of entries: theirs ends with a gap.
  const NodeFacts soft = facts_of(
      "/sys/class/infiniband/rxe0 -> ../../devices/virtual/infiniband/rxe0\n"
      "[/sys/devices/virtual/infiniband/rxe0/ports/1]\n" +
      lines);
  ASSERT_EQ(soft.virtual_rdma.size(), 1U);
  EXPECT_TRUE(soft.virtual_rdma[0].ports.at(0).gids.empty());
}

TEST(Surprises, NumaNodeMinusOneIsUnknownAndNodesNeedNotBeSmall) {
  auto numa = [](std::string_view value) {
    NodeFacts facts = facts_of(fmt::format(
        "[/sys/bus/pci/devices/0000:01:00.0]\nuevent = PCI_CLASS=20000\\nPCI_ID=8086:1572\nnuma_node = {}\n", value));
    return facts.nics.at(0).pci.numa_node;
  };
  EXPECT_EQ(numa("-1"), std::nullopt);
  EXPECT_EQ(numa("8"), 8);
  EXPECT_EQ(numa("252"), 252);
}

TEST(Surprises, DomainsOtherThanZeroAndOf32Bits) {
  NodeFacts facts = facts_of(
      "[/sys/devices/LNXSYSTM:00/VMBUS:00/pci6e8a:00/6e8a:00:02.0]\n"
      "uevent = DRIVER=mlx5_core\\nPCI_CLASS=20000\\nPCI_ID=15B3:101A\n"
      "net/eth1/mtu = 1500\n"
      "/sys/bus/pci/devices/6e8a:00:02.0 -> ../../../devices/LNXSYSTM:00/VMBUS:00/pci6e8a:00/6e8a:00:02.0\n"
      "/sys/class/net/eth1 -> ../../devices/LNXSYSTM:00/VMBUS:00/pci6e8a:00/6e8a:00:02.0/net/eth1\n"
      "[/sys/bus/pci/devices/10000:e1:00.0]\n"
      "uevent = PCI_CLASS=20000\\nPCI_ID=8086:1572\n");
  ASSERT_EQ(facts.nics.size(), 2U);
  EXPECT_EQ(facts.nics[0].pci.address.to_string(), "6e8a:00:02.0");
  EXPECT_EQ(facts.nics[0].netdevs.at(0).name, "eth1");  // a VF with function 0 and no PF here: a NIC
  EXPECT_EQ(facts.nics[0].total_vfs, std::nullopt);
  EXPECT_EQ(facts.nics[1].pci.address.to_string(), "10000:e1:00.0");
}

TEST(Surprises, NodeAndPortGuidsDifferAndZeroCanBeActive) {
  RdmaPort port = port_of(
      "link_layer = InfiniBand\n"
      "state = 4: ACTIVE\n"
      "sm_lid = 0x1\n"
      "gids/0 = fe80:0000:0000:0000:0000:0000:0000:0000\n");
  EXPECT_EQ(port.port_guid, std::nullopt);
  EXPECT_EQ(port.subnet_prefix, 0xfe80000000000000U);
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_TRUE(port.gids.empty());
}

TEST(Surprises, APortThatTheSubnetManagerHasNotTakenInIsInNoFabric) {
  NodeFacts facts = facts_of(rdma_machine("mlx5_0",
                                          "link_layer = InfiniBand\n"
                                          "state = 1: DOWN\n"
                                          "phys_state = 5: LinkUp\n"
                                          "lid = 0xffff\n"
                                          "sm_lid = 0x0\n"
                                          "gids/0 = fe80:0000:0000:0000:0002:c903:0011:2233\n"));
  EXPECT_EQ(facts.nics.at(0).rdma.at(0).ports.at(0).lid, 65535);
  EXPECT_TRUE(facts.fabrics.empty());
}

TEST(Surprises, SoftRoceHasNoParentInSysfs) {
  std::string machine =
      "[/sys/devices/pci0000:00/0000:01:00.0]\n"
      "uevent = DRIVER=igb\\nPCI_CLASS=20000\\nPCI_ID=8086:10C9\n"
      "net/eth0/mtu = 1500\n"
      "/sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:01:00.0\n"
      "/sys/class/net/eth0 -> ../../devices/pci0000:00/0000:01:00.0/net/eth0\n"
      "/sys/class/infiniband/rxe0 -> ../../devices/virtual/infiniband/rxe0\n"
      "[/sys/devices/virtual/infiniband/rxe0]\n"
      "node_type = 1: CA\n"
      "ports/1/link_layer = Ethernet\n"
      "ports/1/state = 4: ACTIVE\n";
  for (const char* hint : {"parent = eth0\n", "parent = eth0\nports/1/gid_attrs/ndevs/0 = eth0\n"}) {
    NodeFacts facts = facts_of(machine + hint);
    ASSERT_EQ(facts.nics.at(0).rdma.size(), 1U) << hint;
    EXPECT_TRUE(facts.nics[0].rdma[0].soft);
    EXPECT_EQ(facts.nics[0].rdma[0].driver, "rxe");
    EXPECT_EQ(facts.nics[0].rdma[0].ports[0].active_mtu, 1024);
  }
  NodeFacts lost = facts_of(machine);
  ASSERT_EQ(lost.virtual_rdma.size(), 1U);
  EXPECT_TRUE(lost.virtual_rdma[0].soft);
}

TEST(Surprises, BondingMastersIsAFileAmongTheInterfaces) {
  NodeFacts facts = facts_of(
      "[/sys/class/net]\n"
      "bonding_masters = bond0\n"
      "bond0 -> ../../devices/virtual/net/bond0\n"
      "lo -> ../../devices/virtual/net/lo\n"
      "[/sys/devices/virtual/net]\n"
      "bond0/mtu = 1500\n"
      "bond0/bonding/mode = 802.3ad 4\n"
      "lo/mtu = 65536\n"
      "lo/type = 772\n");
  ASSERT_EQ(facts.virtual_netdevs.size(), 1U);
  EXPECT_EQ(facts.virtual_netdevs[0].name, "bond0");
  EXPECT_EQ(facts.virtual_netdevs[0].kind, "bond");
}

TEST(Surprises, AVlanRidesOnAPfAndAVethDoesNot) {
  std::string machine =
      "[/sys/devices/pci0000:00/0000:01:00.0]\n"
      "uevent = DRIVER=igb\\nPCI_CLASS=20000\\nPCI_ID=8086:10C9\n"
      "net/eth0/mtu = 1500\n"
      "net/eth0/ifindex = 2\n"
      "net/eth0/iflink = 2\n"
      "/sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:01:00.0\n"
      "/sys/class/net/eth0 -> ../../devices/pci0000:00/0000:01:00.0/net/eth0\n";
  for (const char* name : {"eth0.7", "veth0"})
    machine += fmt::format(
        "/sys/class/net/{0} -> ../../devices/virtual/net/{0}\n"
        "[/sys/devices/virtual/net/{0}]\n"
        "mtu = 1500\n"
        "ifindex = 9\n"
        "iflink = 2\n",
        name);
  machine += "/sys/devices/virtual/net/eth0.7/lower_eth0 -> ../../../pci0000:00/0000:01:00.0/net/eth0\n";
  NodeFacts from_files = facts_of(machine);
  // The same machine with netlink facts, which include the kinds.
  machine +=
      "/railbed/links.json <<END\n"
      "{\"links\": [{\"index\": 2, \"name\": \"eth0\", \"arpType\": 1, \"mtu\": 1500},\n"
      " {\"index\": 9, \"name\": \"eth0.7\", \"kind\": \"vlan\", \"arpType\": 1, \"parent\": 2},\n"
      " {\"index\": 10, \"name\": \"veth0\", \"kind\": \"veth\", \"arpType\": 1, \"parent\": 2},\n"
      " {\"index\": 11, \"name\": \"mv0\", \"kind\": \"macvlan\", \"arpType\": 1, \"parent\": 2,\n"
      "  \"parentElsewhere\": true}], \"addresses\": [], \"routes\": []}\n"
      "END\n";
  NodeFacts from_netlink = facts_of(machine);
  auto lowers = [](const NodeFacts& facts) {
    std::vector<std::string> lines;
    for (const NetInterface& one : facts.virtual_netdevs)
      lines.push_back(fmt::format("{} on {}", one.name, one.lower.empty() ? "-" : one.lower));
    return lines;
  };
  EXPECT_EQ(lowers(from_files), (std::vector<std::string>{"eth0.7 on eth0", "veth0 on -"}));
  EXPECT_EQ(lowers(from_netlink), (std::vector<std::string>{"eth0.7 on eth0", "mv0 on -", "veth0 on -"}));
}

TEST(Surprises, RepresentorsOfASwitchAreNotPortsOfTheCard) {
  std::string machine =
      "[/sys/devices/pci0000:00/0000:01:00.0]\n"
      "uevent = DRIVER=mlx5_core\\nPCI_CLASS=20000\\nPCI_ID=15B3:101D\n"
      "/sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:01:00.0\n";
  for (const auto& [name, port] :
       {std::pair("eth0", "p0"), std::pair("eth1", "pf0vf0"), std::pair("eth2", "c1pf0sf88")})
    machine += fmt::format(
        "net/{0}/mtu = 1500\n"
        "net/{0}/phys_port_name = {1}\n"
        "/sys/class/net/{0} -> ../../devices/pci0000:00/0000:01:00.0/net/{0}\n",
        name, port);
  NodeFacts facts = facts_of(machine);
  ASSERT_EQ(facts.nics.at(0).netdevs.size(), 1U);
  EXPECT_EQ(facts.nics[0].netdevs[0].name, "eth0");
  ASSERT_EQ(facts.virtual_netdevs.size(), 2U);
  EXPECT_EQ(facts.virtual_netdevs[0].kind, "representor");
}

TEST(Surprises, ATreeWithoutUeventsOrLinksIsReadToo) {
  NodeFacts facts = facts_of(
      "[/sys/bus/pci/devices/0000:0c:00.0]\n"
      "class = 0x020700\n"
      "vendor = 0x15b3\n"
      "device = 0x101b\n"
      "driver -> ../../drivers/mlx5_core\n"
      "infiniband/mlx5_0/ports/1/state = 4: ACTIVE\n"
      "net/ib0/mtu = 2044\n"
      "net/ib0/type = 32\n");
  ASSERT_EQ(facts.nics.size(), 1U);
  EXPECT_EQ(facts.nics[0].pci.vendor, "15b3");
  EXPECT_EQ(facts.nics[0].pci.driver, "mlx5_core");
  EXPECT_EQ(facts.nics[0].rdma.at(0).name, "mlx5_0");
  EXPECT_EQ(facts.nics[0].netdevs.at(0).name, "ib0");
}

TEST(Surprises, AVfThatNoPfListsIsReportedAndKept) {
  NodeFacts facts = facts_of(
      "[/sys/bus/pci/devices/0000:01:00.2]\n"
      "uevent = PCI_CLASS=20000\\nPCI_ID=15B3:101E\n"
      "physfn -> ../0000:01:00.0\n");
  ASSERT_EQ(facts.nics.size(), 1U);
  EXPECT_EQ(facts.problems,
            (std::vector<std::string>{"0000:01:00.2 says that it is a VF, but its PF does not list it"}));
}

TEST(Surprises, ManagementScreensAreNoGpus) {
  NodeFacts facts = facts_of(
      "[/sys/bus/pci/devices]\n"
      "0000:03:00.0/uevent = PCI_CLASS=30000\\nPCI_ID=1A03:2000\n"   // ASPEED
      "0000:04:00.0/uevent = PCI_CLASS=30200\\nPCI_ID=10DE:2330\n"   // H100
      "0000:05:00.0/uevent = PCI_CLASS=120000\\nPCI_ID=1002:74A1\n"  // MI300X
      "0000:06:00.0/uevent = PCI_CLASS=30200\\nPCI_ID=10DE:2330\n"   // a GPU's VF
      "0000:06:00.0/physfn -> ../0000:04:00.0\n");
  std::vector<std::string> ids;
  for (const Gpu& gpu : facts.gpus) ids.push_back(gpu.pci.vendor + ":" + gpu.pci.device);
  EXPECT_EQ(ids, (std::vector<std::string>{"10de:2330", "1002:74a1"}));
}

// A device without a parent belongs to the first interface that one of its GIDs names; empty lines come before it.
TEST(Surprises, ASoftDeviceIsFoundByTheInterfaceOfItsGids) {
  const std::string machine =
      "[/sys/devices/pci0000:00/0000:01:00.0]\n"
      "uevent = DRIVER=igb\\nPCI_CLASS=20000\\nPCI_ID=8086:10C9\n"
      "net/eth0/mtu = 1500\n"
      "/sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:01:00.0\n"
      "/sys/class/net/eth0 -> ../../devices/pci0000:00/0000:01:00.0/net/eth0\n"
      "/sys/class/infiniband/rxe0 -> ../../devices/virtual/infiniband/rxe0\n"
      "[/sys/devices/virtual/infiniband/rxe0]\n"
      "node_type = 1: CA\n"
      "ports/1/link_layer = Ethernet\n";
  const NodeFacts found = facts_of(machine + "ports/1/gid_attrs/ndevs/0 = \nports/1/gid_attrs/ndevs/1 = eth0\n");
  ASSERT_EQ(found.nics.at(0).rdma.size(), 1U);
  EXPECT_EQ(found.nics[0].rdma[0].name, "rxe0");
  const NodeFacts lost = facts_of(machine + "ports/1/gid_attrs/ndevs/0 = \n");
  EXPECT_TRUE(lost.nics.at(0).rdma.empty());
  EXPECT_EQ(lost.virtual_rdma.size(), 1U);
}

}  // namespace
}  // namespace railbed::facts
