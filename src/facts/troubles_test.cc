// SPDX-License-Identifier: Apache-2.0
#include "facts/troubles.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "findings/explain.h"
#include "findings/printers.h"

namespace railbed::facts {
namespace {

using findings::Evidence;
using findings::Finding;
using findings::Subject;

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

TEST(Troubles, AreToldOneLineEach) {
  const struct {
    const char* name;
    std::function<void(Nic&)> spoil;
    const char* said;
  } cases[] = {
      {"nothing", [](Nic&) {}, ""},
      {"down",
       [](Nic& nic) {
         nic.rdma[0].ports[0].state = "DOWN";
         nic.rdma[0].ports[0].physical_state = "Disabled";
       },
       "mlx5_2 (0000:02:00.0) port 1: DOWN (physically Disabled)"},
      {"INIT of InfiniBand",
       [](Nic& nic) {
         nic.link_type = LinkType::kInfiniband;
         nic.rdma[0].ports[0].link_type = LinkType::kInfiniband;
         nic.rdma[0].ports[0].state = "INIT";
       },
       "mlx5_2 (0000:02:00.0) port 1: INIT: no subnet manager has taken it in"},
      {"half of the lanes of the cable",
       [](Nic& nic) {
         nic.rdma[0].ports[0].rate_gbps = 200;
         nic.rdma[0].ports[0].rate_text = "200 Gb/sec (2X NDR)";
       },
       "mlx5_2 (0000:02:00.0) port 1: 200 Gb/sec (2X NDR) (200G), others of its kind have 400G"},
      {"a bad slot", [](Nic& nic) { nic.pci.link = PcieLink{8, 4, 32, 16, 32, 16}; },
       "mlx5_2 (0000:02:00.0): PCIe at 8 GT/s x4, both ends can 32 GT/s x16"},
      {"an older slot that does what it can", [](Nic& nic) { nic.pci.link = PcieLink{16, 16, 32, 16, 16, 16}; }, ""},
      {"an older slot that does not", [](Nic& nic) { nic.pci.link = PcieLink{8, 16, 32, 16, 16, 16}; },
       "mlx5_2 (0000:02:00.0): PCIe at 8 GT/s x16, both ends can 16 GT/s x16"},
      {"a narrow slot", [](Nic& nic) { nic.pci.link = PcieLink{32, 8, 32, 16, 32, 8}; },
       "mlx5_2 (0000:02:00.0): PCIe at 32 GT/s x8: its slot has no more lanes, the card could use 16"},
      {"an unknown maximum", [](Nic& nic) { nic.pci.link = PcieLink{8, 4, 0, 0, {}, {}}; }, ""},
      {"firmware", [](Nic& nic) { nic.firmware = "28.40.1000"; },
       "firmware differs among equal cards (ConnectX-7): 28.39.1002 on mlx5_1 (0000:01:00.0); 28.40.1000 on mlx5_2 "
       "(0000:02:00.0)"},
      {"another kind's firmware",
       [](Nic& nic) {
         nic.firmware = "22.40.1000";
         nic.pci.device = "101d";
       },
       ""},
      {"off", [](Nic& nic) { nic.netdevs[0].admin_up = false; },
       "mlx5_2 (0000:02:00.0): interface eth2 is off (ip link set dev eth2 up)"},
      {"unknown flags",
       [](Nic& nic) {
         nic.netdevs[0].admin_up.reset();
         nic.netdevs[0].carrier.reset();
       },
       ""},
      {"no carrier", [](Nic& nic) { nic.netdevs[0].carrier = false; },
       "mlx5_2 (0000:02:00.0): interface eth2 has no carrier"},
      {"no VFs", [](Nic& nic) { nic.total_vfs = 0; },
       "mlx5_2 (0000:02:00.0): it makes no VFs (sriov_totalvfs is 0), others of its kind do: its firmware has SR-IOV off "
       "(mlxconfig -d 0000:02:00.0 query SRIOV_EN NUM_OF_VFS)"},
  };
  for (const auto& c : cases) {
    NodeFacts facts{.nics = {card(1), card(2)}};
    c.spoil(facts.nics[1]);
    std::string said;
    for (const Finding& one : troubles_of(facts)) said += (said.empty() ? "" : "\n") + to_line(one);
    EXPECT_EQ(said, c.said) << c.name;
  }
}

// A GPU that idles runs its link slowly on purpose.
TEST(Troubles, OfGpusOnlyTheWidthCounts) {
  Gpu gpu;
  gpu.pci.address = {.domain = 0, .bus = 7, .device = 0, .function = 0};
  gpu.pci.link = PcieLink{2.5, 16, 32, 16, 32, 16};
  EXPECT_TRUE(troubles_of({.gpus = {gpu}}).empty());
  gpu.pci.link->width = 8;
  const std::vector<Finding> told = troubles_of({.gpus = {gpu}});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(to_line(told[0]), "GPU 0 (0000:07:00.0): PCIe has 8 lanes, both ends can 16");
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
  Finding told;
};

constexpr doc::Severity kWarning = doc::Severity::kWarning;

Evidence sysfs(const char* file, const char* value) {
  return {.source = "sysfs", .what = file, .value = value};
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
  };
}

std::vector<WholeCase> pcie_cases() {
  return {
      {[](NodeFacts& facts) { facts.nics[1].pci.link = PcieLink{8, 4, 32, 16, 16, 8}; },
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
         facts.nics[1].pci.link = PcieLink{8, 4, 32, 16, {}, {}};
         facts.nics[1].pci.bridges.clear();
       },
       {"RB-PCIE-001",
        kWarning,
        {Subject::Kind::kPci, "0000:02:00.0"},
        "mlx5_2 (0000:02:00.0): PCIe at 8 GT/s x4, both ends can 32 GT/s x16",
        {sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_speed", "8 GT/s"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/max_link_speed", "32 GT/s"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/current_link_width", "4"),
         sysfs("/sys/bus/pci/devices/0000:02:00.0/max_link_width", "16")},
        ""}},
      {[](NodeFacts& facts) { facts.nics[1].pci.link = PcieLink{32, 8, 32, 16, 32, 8}; },
       {"RB-PCIE-002",
        doc::Severity::kNote,
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
         facts.nics[1].rdma[0].firmware = "";  // devlink told
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
  for (const auto& more : {pcie_cases(), firmware_cases()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Troubles, AreFindingsWithWhereTheirValuesAre) {
  for (const WholeCase& one : whole_cases()) {
    Gpu gpu;
    gpu.pci.address = {.domain = 0, .bus = 7, .device = 0, .function = 0};
    gpu.pci.bridges = {{.domain = 0, .bus = 0, .device = 7, .function = 0}};
    gpu.pci.link = PcieLink{2.5, 16, 32, 16, 32, 16};
    NodeFacts facts{.nics = {whole_card(1), whole_card(2)}, .gpus = {gpu}};
    ASSERT_TRUE(troubles_of(facts).empty());
    one.spoil(facts);
    const std::vector<Finding> told = troubles_of(facts);
    ASSERT_EQ(told.size(), 1U) << one.told.message;
    EXPECT_EQ(to_text(told[0], "", findings::Detail::kFull), to_text(one.told, "", findings::Detail::kFull));
    EXPECT_EQ(told[0], one.told) << one.told.id;
  }
}

// Each explained id has a case above, and each case is explained. That code gives no other id is tests/tidy's.
TEST(Troubles, AreExplainedAndTested) {
  std::set<std::string> explained, given;
  for (const findings::Explanation& one : findings::explanations())
    if (one.page == "docs/findings/machine.md") explained.emplace(one.id);
  for (const WholeCase& one : whole_cases()) given.insert(one.told.id);
  EXPECT_EQ(given, explained);
}

}  // namespace
}  // namespace railbed::facts
