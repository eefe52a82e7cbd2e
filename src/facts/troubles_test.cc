// SPDX-License-Identifier: Apache-2.0
#include "facts/troubles.h"

#include <gtest/gtest.h>

namespace railbed::facts {
namespace {

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
    for (const std::string& line : troubles_of(facts)) said += (said.empty() ? "" : "\n") + line;
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
  EXPECT_EQ(troubles_of({.gpus = {gpu}}),
            std::vector<std::string>{"GPU 0 (0000:07:00.0): PCIe has 8 lanes, both ends can 16"});
}

}  // namespace
}  // namespace railbed::facts
