// SPDX-License-Identifier: Apache-2.0
#include "facts/troubles.h"

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/fixture.h"
#include "facts/gpu_paths.h"
#include "findings/explain.h"
#include "findings/printers.h"

namespace railbed::facts {
namespace {

using findings::Evidence;
using findings::Finding;
using findings::Subject;
using testing::IsEmpty;

Nic card(int number) {
  Nic nic;
  nic.pci.address = {.domain = 0, .bus = static_cast<uint8_t>(number), .device = 0, .function = 0};
  nic.pci.vendor = "15b3";
  nic.pci.device = "1021";
  nic.pci.model = "MT2910 Family [ConnectX-7]";
  nic.link_type = LinkType::kEthernet;
  nic.firmware = "28.39.1002";
  nic.total_vfs = 8;
  nic.netdevs.push_back({.name = fmt::format("eth{}", number), .admin_up = true, .carrier = true});
  RdmaPort port{.link_type = LinkType::kEthernet,
                .state = "ACTIVE",
                .physical_state = "LinkUp",
                .rate_gbps = 400,
                .rate_text = "400 Gb/sec (4X NDR)"};
  nic.rdma.push_back({.name = fmt::format("mlx5_{}", number), .ports = {port}});
  nic.pci.link = PcieLink{.speed_gts = 32, .width = 16, .max_speed_gts = 32, .max_width = 16};
  return nic;
}

// Equal to `card`, with what collect() also fills.
Nic whole_card(int number) {
  Nic nic = card(number);
  nic.rdma[0].firmware = nic.firmware;
  nic.pci.bridges = {{.domain = 0, .bus = 0, .device = static_cast<uint8_t>(number), .function = 0}};
  return nic;
}

struct WholeCase {
  void (*spoil)(NodeFacts& facts);  // two equal cards and a GPU
  Finding reported;
};

constexpr doc::Severity kWarning = doc::Severity::kWarning;
constexpr doc::Severity kNote = doc::Severity::kNote;

Evidence sysfs(const char* file, const char* value) {
  return {.source = "sysfs", .what = file, .value = value};
}

void become_infiniband(NodeFacts& facts) {
  for (Nic& nic : facts.nics) nic.link_type = nic.rdma[0].ports[0].link_type = LinkType::kInfiniband;
}

// No link of PCIe is too slow for such ports.
void slow_down(NodeFacts& facts) {
  for (Nic& nic : facts.nics) nic.rdma[0].ports[0].rate_gbps = 10;
}

// Four cards and four GPUs, a pair of them below each switch, but for the second GPU.
void lose_gpu(NodeFacts& facts) {
  facts.node = "n1";
  facts.nics.clear();
  facts.gpus.clear();
  for (uint8_t root = 0x10; root <= 0x40; root += 0x10) {
    const auto below = [&](uint8_t slot) {
      return std::vector<PciAddress>{
          {0, root, 0, 0}, {0, static_cast<uint8_t>(root + 1), 0, 0}, {0, static_cast<uint8_t>(root + 2), slot, 0}};
    };
    Gpu gpu;
    gpu.pci.address = {0, static_cast<uint8_t>(root + 3), 0, 0};
    gpu.pci.bridges = below(0);
    if (root != 0x20) facts.gpus.push_back(gpu);
    facts.nics.push_back(whole_card(root + 4));
    facts.nics.back().pci.bridges = below(1);
  }
  for (Nic& nic : facts.nics) nic.gpus = gpu_paths(nic.pci, facts.gpus, NumaNodes::kSeveral);
}

std::vector<WholeCase> port_cases() {
  return {
      {[](NodeFacts& facts) {
         facts.nics[1].rdma[0].ports[0].state = "DOWN";
         facts.nics[1].rdma[0].ports[0].physical_state = "Polling";
       },
       {"RB-PORT-001",
        kWarning,
        {Subject::Kind::kRdmaPort, "mlx5_2/1"},
        "mlx5_2 (0000:02:00.0) port 1: DOWN (physically Polling)",
        {sysfs("/sys/class/infiniband/mlx5_2/ports/1/state", "DOWN"),
         sysfs("/sys/class/infiniband/mlx5_2/ports/1/phys_state", "Polling")},
        ""}},
      {[](NodeFacts& facts) {
         facts.nics[1].rdma[0].ports[0].state = "ARMED";
         facts.nics[1].rdma[0].ports[0].physical_state = "";
       },
       {"RB-PORT-001",
        kWarning,
        {Subject::Kind::kRdmaPort, "mlx5_2/1"},
        "mlx5_2 (0000:02:00.0) port 1: ARMED",
        {sysfs("/sys/class/infiniband/mlx5_2/ports/1/state", "ARMED")},
        ""}},
      {[](NodeFacts& facts) { facts.nics[1].rdma[0].ports[0].state = "INIT"; },
       {"RB-PORT-002",
        kWarning,
        {Subject::Kind::kRdmaPort, "mlx5_2/1"},
        "mlx5_2 (0000:02:00.0) port 1: INIT: its interface is down",
        {sysfs("/sys/class/infiniband/mlx5_2/ports/1/state", "INIT")},
        ""}},
      {[](NodeFacts& facts) {
         facts.nics[1].link_type = facts.nics[1].rdma[0].ports[0].link_type = LinkType::kInfiniband;
         facts.nics[1].rdma[0].ports[0].state = "INIT";
       },
       {"RB-PORT-003",
        kWarning,
        {Subject::Kind::kRdmaPort, "mlx5_2/1"},
        "mlx5_2 (0000:02:00.0) port 1: INIT: no subnet manager has taken it in",
        {sysfs("/sys/class/infiniband/mlx5_2/ports/1/state", "INIT")},
        ""}},
      {[](NodeFacts& facts) {
         facts.nics[1].rdma[0].ports[0].rate_gbps = 200;
         facts.nics[1].rdma[0].ports[0].rate_text = "200 Gb/sec (2X NDR)";
       },
       {"RB-PORT-004",
        kWarning,
        {Subject::Kind::kRdmaPort, "mlx5_2/1"},
        "mlx5_2 (0000:02:00.0) port 1: 200 Gb/sec (2X NDR) (200G), others of its kind have 400G",
        {sysfs("/sys/class/infiniband/mlx5_2/ports/1/rate", "200 Gb/sec (2X NDR)"),
         sysfs("/sys/class/infiniband/mlx5_1/ports/1/rate", "400 Gb/sec (4X NDR)")},
        ""}},
      {[](NodeFacts& facts) { facts.nics[1].netdevs[0].admin_up = false; },
       {"RB-PORT-005",
        kWarning,
        {Subject::Kind::kInterface, "eth2"},
        "mlx5_2 (0000:02:00.0): interface eth2 is off",
        {sysfs("/sys/class/net/eth2/flags", "IFF_UP is not set")},
        "ip link set dev eth2 up"}},
      {[](NodeFacts& facts) { facts.nics[1].netdevs[0].carrier = false; },
       {"RB-PORT-006",
        kWarning,
        {Subject::Kind::kInterface, "eth2"},
        "mlx5_2 (0000:02:00.0): interface eth2 has no carrier",
        {sysfs("/sys/class/net/eth2/carrier", "0")},
        ""}},
      {[](NodeFacts& facts) { facts.nics[1].netdevs[0].mtu = 1500; },
       {"RB-PORT-007",
        kWarning,
        {Subject::Kind::kInterface, "eth2"},
        "mlx5_2 (0000:02:00.0): interface eth2 of a rail has MTU 1500, RoCE 1024",
        {sysfs("/sys/class/net/eth2/mtu", "1500")},
        "ip link set dev eth2 mtu 9000"}},
  };
}

std::vector<WholeCase> ipoib_cases() {
  return {
      {[](NodeFacts& facts) {
         become_infiniband(facts);
         facts.nics[1].netdevs[0].admin_up = false;
       },
       {"RB-PORT-008",
        kWarning,
        {Subject::Kind::kInterface, "eth2"},
        "mlx5_2 (0000:02:00.0): IPoIB interface eth2 is off, and its port is ACTIVE",
        {sysfs("/sys/class/infiniband/mlx5_2/ports/1/state", "ACTIVE"),
         sysfs("/sys/class/net/eth2/flags", "IFF_UP is not set")},
        "ip link set dev eth2 up"}},
      // No other IPoIB interface runs: perhaps none is desired.
      {[](NodeFacts& facts) {
         become_infiniband(facts);
         facts.nics[0].netdevs.clear();
         facts.nics[1].netdevs[0].carrier = false;
         facts.nics[1].netdevs[0].oper_state = "down";
       },
       {"RB-PORT-008",
        kNote,
        {Subject::Kind::kInterface, "eth2"},
        "mlx5_2 (0000:02:00.0): IPoIB interface eth2 is without a carrier, and its port is ACTIVE",
        {sysfs("/sys/class/infiniband/mlx5_2/ports/1/state", "ACTIVE"), sysfs("/sys/class/net/eth2/operstate", "down")},
        "its partition must exist in the subnet manager, with the port as a member"}},
  };
}

std::vector<WholeCase> pcie_cases() {
  return {
      {[](NodeFacts& facts) {
         slow_down(facts);
         facts.nics[1].pci.link = PcieLink{8, 4, 32, 16, 16, 8};
       },
       {"RB-PCIE-001",
        kWarning,
        {Subject::Kind::kPci, "0000:02:00.0"},
        "mlx5_2 (0000:02:00.0): PCIe at 8 GT/s x4, both ends can 16 GT/s x8",
        {sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_speed", "8 GT/s"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/max_link_speed", "32 GT/s"),
         sysfs("/sys/bus/pci/devices/0000:00:02.0/max_link_speed", "16 GT/s"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_width", "4"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/max_link_width", "16"),
         sysfs("/sys/bus/pci/devices/0000:00:02.0/max_link_width", "8")},
        ""}},
      {[](NodeFacts& facts) {
         slow_down(facts);
         facts.nics[1].pci.link = PcieLink{32, 8, 32, 16, 32, 8};
       },
       {"RB-PCIE-002",
        kNote,
        {Subject::Kind::kPci, "0000:02:00.0"},
        "mlx5_2 (0000:02:00.0): PCIe at 32 GT/s x8: its slot has no more lanes, the card could use 16",
        {sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_width", "8"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/max_link_width", "16"),
         sysfs("/sys/bus/pci/devices/0000:00:02.0/max_link_width", "8")},
        ""}},
      {[](NodeFacts& facts) { facts.gpus[0].pci.link->width = 8; },
       {"RB-PCIE-003",
        kWarning,
        {Subject::Kind::kPci, "0000:07:00.0"},
        "GPU 0 (0000:07:00.0): PCIe has 8 lanes, both ends can 16",
        {sysfs("/sys/bus/pci/devices/0000:07:00.0/current_link_width", "8"),
         sysfs("/sys/bus/pci/devices/0000:07:00.0/max_link_width", "16"),
         sysfs("/sys/bus/pci/devices/0000:00:07.0/max_link_width", "16")},
        ""}},
      {[](NodeFacts& facts) { facts.nics[1].pci.link = PcieLink{16, 8, 16, 8, {}, {}}; },
       {"RB-PCIE-004",
        kWarning,
        {Subject::Kind::kRdmaPort, "mlx5_2/1"},
        "mlx5_2 (0000:02:00.0) port 1: 400G behind PCIe at 16 GT/s x8, which carries 126 Gb/s",
        {sysfs("/sys/class/infiniband/mlx5_2/ports/1/rate", "400 Gb/sec (4X NDR)"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_speed", "16 GT/s"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_width", "8")},
        ""}},
      {[](NodeFacts& facts) {
         facts.nics[1].pci.bridges = {{0, 0, 2, 0}, {0, 0x41, 0, 0}, {0, 0x42, 1, 0}};
         facts.gpus[0].pci.bridges = {{0, 0, 2, 0}, {0, 0x41, 0, 0}, {0, 0x42, 0, 0}};
         facts.switches = {{.address = {0, 0x41, 0, 0}, .link = PcieLink{5, 8, 32, 16, 32, 16}}};
       },
       {"RB-PCIE-005",
        kWarning,
        {Subject::Kind::kPci, "0000:41:00.0"},
        "PCIe switch 0000:41:00.0 (above mlx5_2 (0000:02:00.0), GPU 0): its uplink has 8 lanes, both ends can 16",
        {sysfs("/sys/bus/pci/devices/0000:41:00.0/current_link_width", "8"),
         sysfs("/sys/bus/pci/devices/0000:41:00.0/max_link_width", "16"),
         sysfs("/sys/bus/pci/devices/0000:00:02.0/max_link_width", "16")},
        ""}},
      {[](NodeFacts& facts) {
         slow_down(facts);
         facts.nics[1].pci.link = PcieLink{8, 4, 32, 16, {}, {}};
         facts.nics[1].pci.bridges.clear();
       },
       {"RB-PCIE-006",
        kNote,
        {Subject::Kind::kPci, "0000:02:00.0"},
        "mlx5_2 (0000:02:00.0): PCIe at 8 GT/s x4, the card can 32 GT/s x16; what its slot can is not known",
        {sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_speed", "8 GT/s"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/max_link_speed", "32 GT/s"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_width", "4"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/max_link_width", "16")},
        ""}},
  };
}

std::vector<WholeCase> place_cases() {
  return {
      {[](NodeFacts& facts) {
         facts.nics.push_back(whole_card(3));
         facts.nics.push_back(whole_card(4));
         std::swap(facts.nics[2].rdma[0].name, facts.nics[3].rdma[0].name);
       },
       {"RB-NAME-001",
        kWarning,
        {Subject::Kind::kRdmaDevice, "mlx5_4"},
        "mlx5_4 (0000:03:00.0) and mlx5_3 (0000:04:00.0) are in each other's place: all others are in the order of addresses",
        {sysfs("/sys/class/infiniband/mlx5_4/device", "0000:03:00.0"),
         sysfs("/sys/class/infiniband/mlx5_3/device", "0000:04:00.0")},
        "compare with a node that works: railbed discover --facts A B"}},
      {[](NodeFacts& facts) {
         facts.nics[0].netdevs[0].addresses = {IpPrefix::parse("10.0.0.1/24").value()};
         facts.nics[1].netdevs[0].addresses = {IpPrefix::parse("10.0.0.2/24").value()};
         facts.nics[1].netdevs[0].arp = ArpSettings{.ignore = 0, .announce = 2, .rp_filter = 1};
       },
       {"RB-HOST-001",
        kWarning,
        {Subject::Kind::kInterface, "eth1"},
        "eth1 (10.0.0.1/24) and eth2 (10.0.0.2/24) are in one subnet (10.0.0.0/24): each answers and sends for the other",
        {{.source = "rtnetlink", .what = "address of eth1", .value = "10.0.0.1/24"},
         {.source = "rtnetlink", .what = "address of eth2", .value = "10.0.0.2/24"},
         {.source = "sysctl", .what = "net.ipv4.conf.eth2.arp_ignore (or all)", .value = "0"},
         {.source = "sysctl", .what = "net.ipv4.conf.eth2.arp_announce (or all)", .value = "2"},
         {.source = "sysctl", .what = "net.ipv4.conf.eth2.rp_filter (or all)", .value = "1"}},
        "a subnet for each, or arp_ignore=1, arp_announce=2, rp_filter=2 and a routing table for each"}},
      {lose_gpu,
       {"RB-GPU-001",
        kWarning,
        {Subject::Kind::kNode, "n1"},
        "a GPU is missing near rail 1 (mlx5_36 (0000:24:00.0)): 3 are here",
        {sysfs("/sys/bus/pci/devices/0000:24:00.0", "no GPU near it")},
        "look for Xid 79 in the kernel's log"}},
  };
}

// Five VFs of a card whose driver makes interfaces of them with another module; the third has a driver.
void add_vfs(NodeFacts& facts) {
  Nic& nic = facts.nics[1];
  nic.pci.driver = "i40e";
  nic.vfs_autoprobe = true;
  for (int i = 0; i < 5; ++i) {
    Vf vf;
    vf.index = {i};
    vf.pci.address = {0, 2, 1, static_cast<uint8_t>(i)};
    if (i == 2) vf.pci.driver = "vfio-pci";
    nic.vfs.push_back(vf);
  }
}

Finding vfs_without_a_driver(std::string why, std::optional<Evidence> cause, std::string fix) {
  Finding finding{.id = "RB-DRV-001",
                  .severity = kWarning,
                  .subject = {Subject::Kind::kPci, "0000:02:00.0"},
                  .message = "mlx5_2 (0000:02:00.0): 4 VFs (0-1, 3-4) have no driver" + why,
                  .evidence = {sysfs("/sys/bus/pci/devices/0000:02:01.0/driver", "absent"),
                               sysfs("/sys/bus/pci/devices/0000:02:00.0/sriov_drivers_autoprobe", "1")},
                  .fix = std::move(fix)};
  if (cause) finding.evidence.push_back(std::move(*cause));
  return finding;
}

std::vector<WholeCase> driver_cases() {
  return {
      {[](NodeFacts& facts) {
         add_vfs(facts);
         facts.module_blocks = {{"iavf", "/etc/modprobe.d/vfs.conf", 3, "blacklist iavf"}};
       },
       vfs_without_a_driver(": iavf is on a blacklist (/etc/modprobe.d/vfs.conf:3)",
                            Evidence{.source = "file", .what = "/etc/modprobe.d/vfs.conf:3", .value = "blacklist iavf"},
                            "remove that line, then: modprobe iavf")},
      {[](NodeFacts& facts) {
         add_vfs(facts);
         facts.module_blocks = {{"iavf", "/proc/cmdline", 1, "module_blacklist=iavf"}};
       },
       vfs_without_a_driver(": iavf is on a blacklist (/proc/cmdline:1)",
                            Evidence{.source = "file", .what = "/proc/cmdline:1", .value = "module_blacklist=iavf"},
                            "remove it from the kernel's command line and boot again")},
      {add_vfs, vfs_without_a_driver(": iavf is not loaded", sysfs("/sys/module/iavf", "absent"), "modprobe iavf")},
      {[](NodeFacts& facts) {
         add_vfs(facts);
         facts.modules = {"iavf"};
       },
       vfs_without_a_driver(", though iavf is loaded", std::nullopt,
                            "look for their addresses in the kernel's log (dmesg)")},
      {[](NodeFacts& facts) {
         add_vfs(facts);
         facts.nics[1].pci.driver = "mlx5_core";
       },
       vfs_without_a_driver(", though mlx5_core is loaded", std::nullopt,
                            "look for their addresses in the kernel's log (dmesg)")},
      {[](NodeFacts& facts) {
         add_vfs(facts);
         facts.nics[1].pci.driver = "a_new_one";
       },
       vfs_without_a_driver("", std::nullopt, "look for their addresses in the kernel's log (dmesg)")},
  };
}

std::vector<WholeCase> firmware_cases() {
  return {
      {[](NodeFacts& facts) { facts.nics[1].total_vfs = 0; },
       {"RB-FW-001",
        kWarning,
        {Subject::Kind::kPci, "0000:02:00.0"},
        "mlx5_2 (0000:02:00.0): it makes no VFs (sriov_totalvfs is 0), others of its kind do: its firmware has SR-IOV "
        "off",
        {sysfs("/sys/bus/pci/devices/0000:02:00.0/sriov_totalvfs", "0"),
         sysfs("/sys/bus/pci/devices/0000:01:00.0/sriov_totalvfs", "8")},
        "mlxconfig -d 0000:02:00.0 query SRIOV_EN NUM_OF_VFS"}},
      {[](NodeFacts& facts) {
         facts.nics[1].total_vfs = 0;
         for (Nic& nic : facts.nics) nic.pci.vendor = "8086";
       },
       {"RB-FW-001",
        kWarning,
        {Subject::Kind::kPci, "0000:02:00.0"},
        "mlx5_2 (0000:02:00.0): it makes no VFs (sriov_totalvfs is 0), others of its kind do: its firmware has SR-IOV "
        "off",
        {sysfs("/sys/bus/pci/devices/0000:02:00.0/sriov_totalvfs", "0"),
         sysfs("/sys/bus/pci/devices/0000:01:00.0/sriov_totalvfs", "8")},
        ""}},
      {[](NodeFacts& facts) {
         facts.nics[1].firmware = "28.40.1000";
         facts.nics[1].rdma[0].firmware = "";  // devlink reported
       },
       {"RB-FW-002",
        kWarning,
        {Subject::Kind::kCardModel, "15b3:1021"},
        "firmware differs among equal cards (ConnectX-7): 28.39.1002 on mlx5_1 (0000:01:00.0); 28.40.1000 on mlx5_2 "
        "(0000:02:00.0)",
        {sysfs("/sys/class/infiniband/mlx5_1/fw_ver", "28.39.1002"),
         {.source = "devlink", .what = "dev info pci/0000:02:00.0", .value = "28.40.1000"}},
        ""}},
  };
}

std::vector<WholeCase> whole_cases() {
  std::vector<WholeCase> all = port_cases();
  for (const auto& more : {ipoib_cases(), pcie_cases(), place_cases(), driver_cases(), firmware_cases()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

NodeFacts well() {
  Gpu gpu;
  gpu.pci.address = {.domain = 0, .bus = 7, .device = 0, .function = 0};
  gpu.pci.bridges = {{.domain = 0, .bus = 0, .device = 7, .function = 0}};
  gpu.pci.link = PcieLink{2.5, 16, 32, 16, 32, 16};
  return {.nics = {whole_card(1), whole_card(2)}, .gpus = {gpu}};
}

TEST(Troubles, AreFindingsWithWhereTheirValuesAre) {
  for (const WholeCase& one : whole_cases()) {
    NodeFacts facts = well();
    ASSERT_TRUE(troubles_of(facts).empty());
    one.spoil(facts);
    const std::vector<Finding> reported = troubles_of(facts);
    ASSERT_EQ(reported.size(), 1U) << one.reported.message;
    EXPECT_EQ(to_text(reported[0], "", findings::Detail::kFull), to_text(one.reported, "", findings::Detail::kFull));
    EXPECT_EQ(reported[0], one.reported) << one.reported.id;
  }
}

TEST(Troubles, AreNotWhatIsInOrderOrUnknown) {
  const struct {
    const char* name;
    void (*change)(NodeFacts& facts);
  } cases[] = {
      {"an older slot that does what it can",
       [](NodeFacts& facts) {
         slow_down(facts);
         facts.nics[1].pci.link = PcieLink{16, 16, 32, 16, 16, 16};
       }},
      {"an unknown maximum",
       [](NodeFacts& facts) {
         slow_down(facts);
         facts.nics[1].pci.link = PcieLink{8, 4, 0, 0, {}, {}};
       }},
      {"another kind's firmware",
       [](NodeFacts& facts) {
         facts.nics[1].firmware = "22.40.1000";
         facts.nics[1].pci.device = "101d";
       }},
      {"unknown flags",
       [](NodeFacts& facts) {
         facts.nics[1].netdevs[0].admin_up.reset();
         facts.nics[1].netdevs[0].carrier.reset();
       }},
      // A GPU that idles runs its link slowly on purpose.
      {"a slow GPU", [](NodeFacts& facts) { facts.gpus[0].pci.link = PcieLink{2.5, 16, 32, 16, 32, 16}; }},
      {"the smallest MTU with whole packets", [](NodeFacts& facts) { facts.nics[1].netdevs[0].mtu = 4200; }},
      {"a front end with MTU 1500",
       [](NodeFacts& facts) {
         facts.nics[1].netdevs[0].mtu = 1500;
         facts.nics[1].netdevs[0].has_default_route = true;
       }},
      {"a port of a VM, whose PCIe is not known", [](NodeFacts& facts) { facts.nics[1].pci.link.reset(); }},
      {"a port with a second function for GPUs",
       [](NodeFacts& facts) {
         facts.nics[1].pci.link = PcieLink{16, 8, 16, 8, {}, {}};
         facts.nics[1].data_direct = PciAddress{0, 9, 0, 0};
       }},
      {"a switch with all its lanes",
       [](NodeFacts& facts) {
         facts.switches = {{.address = {0, 0x41, 0, 0}, .link = PcieLink{5, 16, 32, 16, {}, {}}},
                           {.address = {0, 0x51, 0, 0}, .link = PcieLink{16, 8, 32, 16, 16, 8}}};
       }},
      {"IPoIB with its port", [](NodeFacts& facts) { become_infiniband(facts); }},
      {"settings that keep a subnet's interfaces apart",
       [](NodeFacts& facts) {
         const ArpSettings arp{.ignore = 1, .announce = 2, .rp_filter = 2};
         facts.nics[0].netdevs[0].addresses = {IpPrefix::parse("10.0.0.1/24").value()};
         facts.nics[1].netdevs[0].addresses = {IpPrefix::parse("10.0.0.2/24").value()};
         for (Nic& nic : facts.nics) nic.netdevs[0].arp = arp;
       }},
      {"VFs that are to have no driver",
       [](NodeFacts& facts) {
         add_vfs(facts);
         facts.nics[1].vfs_autoprobe = false;
       }},
      {"VFs with vfio-pci",
       [](NodeFacts& facts) {
         add_vfs(facts);
         for (Vf& vf : facts.nics[1].vfs) vf.pci.driver = "vfio-pci";
       }},
  };
  for (const auto& one : cases) {
    NodeFacts facts = well();
    one.change(facts);
    std::vector<std::string> reported;
    for (const Finding& finding : troubles_of(facts)) reported.push_back(to_line(finding));
    EXPECT_THAT(reported, IsEmpty()) << one.name;
  }
}

// The machines of testdata: what is well there stays unmentioned.
TEST(Troubles, OfRecordedMachinesAreThese) {
  const std::map<std::string, std::vector<std::string>> machines = {
      {"cx7-sriov-off", {}},
      {"gpu8-ib8",
       {"RB-PORT-001 mlx5_2/1", "RB-PORT-005 ens6f1np1", "RB-PORT-004 mlx5_10/1", "RB-PCIE-001 0000:cb:00.0",
        "RB-PCIE-004 mlx5_11/1"}},
      {"gpu8-roce8", {}},
      {"ib-unwell", {"RB-PORT-003 mlx5_2/1"}},
      {"lab", {}},
      {"lab-fresh", {}},
      {"modest", {}},
      {"no-sriov", {}},
      {"roce-2x-cx6dx", {"RB-PORT-007 ens2f0np0", "RB-PORT-001 mlx5_3/1", "RB-PORT-005 ens2f1np1"}},
      {"roce-exclusive", {}},
      {"roce-host", {}},
      {"seed-six-cx7", {}},
      {"six-cx7-unwell", {}},
  };
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testdata() / "machines")) {
    ++files;
    const std::string name = entry.path().stem().string();
    ASSERT_TRUE(machines.contains(name)) << name;
    std::vector<std::string> reported;
    for (const Finding& finding : troubles_of(testing_fixture::facts_of(content(entry.path()))))
      reported.push_back(finding.id + " " + finding.subject.name);
    EXPECT_EQ(reported, machines.at(name)) << name;
  }
  EXPECT_EQ(files, machines.size());
}

// Each explained id has a case above, and each case is explained. That code gives no other id is tests/tidy's.
TEST(Troubles, AreExplainedAndTested) {
  std::set<std::string> explained, given;
  for (const findings::Explanation& one : findings::explanations())
    if (one.page == "docs/findings/machine.md") explained.emplace(one.id);
  for (const WholeCase& one : whole_cases()) given.insert(one.reported.id);
  EXPECT_EQ(given, explained);
}

}  // namespace
}  // namespace railbed::facts
