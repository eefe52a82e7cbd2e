// SPDX-License-Identifier: Apache-2.0
#include "rdma/link_rate.h"

#include <gtest/gtest.h>

#include "os/record/memory_files.h"

namespace railbed::rdma {
namespace {

TEST(DataRate, IsThatBehindTheLineCode) {
  using enum LinkLayer;
  EXPECT_DOUBLE_EQ(data_rate_gbps("400 Gb/sec (4X NDR)", kInfiniBand), 400);
  EXPECT_DOUBLE_EQ(data_rate_gbps("100 Gb/sec (4X EDR)", kEthernet), 100);
  EXPECT_DOUBLE_EQ(data_rate_gbps("40 Gb/sec (4X QDR)", kInfiniBand), 32);
  EXPECT_DOUBLE_EQ(data_rate_gbps("40 Gb/sec (4X QDR)", kEthernet), 40);
  EXPECT_DOUBLE_EQ(data_rate_gbps("20 Gb/sec (4X DDR)", kInfiniBand), 16);
  EXPECT_DOUBLE_EQ(data_rate_gbps("10 Gb/sec (4X SDR)", kInfiniBand), 8);
  EXPECT_DOUBLE_EQ(data_rate_gbps("2.5 Gb/sec (1X SDR)", kEthernet), 2.5);
  EXPECT_NEAR(data_rate_gbps("56 Gb/sec (4X FDR)", kInfiniBand), 54.5, 0.1);
  EXPECT_DOUBLE_EQ(data_rate_gbps("40 Gb/sec (4X FDR10)", kInfiniBand), 40);
  for (const char* wrong : {"", "fast", "-5 Gb/sec (1X SDR)", "400 Mb/sec", "inf Gb/sec (4X NDR)", "1e9 Gb/sec"})
    EXPECT_EQ(data_rate_gbps(wrong, kEthernet), 0) << wrong;
}

TEST(Pcie, CarriesLessThanItsRate) {
  EXPECT_NEAR(pcie_payload_gbps(16, 16), 230.5, 0.5);
  EXPECT_NEAR(pcie_payload_gbps(8, 8), 57.6, 0.1);
  EXPECT_NEAR(pcie_payload_gbps(5, 8), 29.3, 0.1);
  EXPECT_NEAR(pcie_payload_gbps(64, 16), 885, 1);
  EXPECT_EQ(pcie_payload_gbps(0, 16), 0);
  EXPECT_EQ(pcie_payload_gbps(16, 0), 0);
}

TEST(ReadLink, AVfHasThePcieLinkOfItsPf) {
  os::MemoryFiles files;
  const std::string device = "/sys/class/infiniband/mlx5_3";
  files.put_file(device + "/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  files.put_file("/sys/devices/pci/vf/current_link_speed", "Unknown\n");
  files.put_file("/sys/devices/pci/vf/current_link_width", "0\n");
  files.put_file("/sys/devices/pci/pf/current_link_speed", "32.0 GT/s PCIe\n");
  files.put_file("/sys/devices/pci/pf/current_link_width", "16\n");
  files.put_link("/sys/devices/pci/vf/physfn", "../pf");
  files.put_link(device + "/device", "../../../devices/pci/vf");
  const LinkRates rates = read_link(files, LinkLayer::kEthernet, {.device = "mlx5_3", .port = 1, .netdev = {}});
  EXPECT_EQ(rates.link, "400 Gb/sec (4X NDR)");
  EXPECT_EQ(rates.link_gbps, 400);
  EXPECT_EQ(rates.pcie, "32 GT/s x16");
  EXPECT_NEAR(rates.pcie_gbps, 461, 1);
  EXPECT_EQ(read_link(files, LinkLayer::kEthernet, {.device = "mlx5_4", .port = 1, .netdev = {}}), LinkRates{});
}

}  // namespace
}  // namespace railbed::rdma
