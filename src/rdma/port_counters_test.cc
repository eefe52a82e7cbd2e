// SPDX-License-Identifier: Apache-2.0
#include "rdma/port_counters.h"

#include <gtest/gtest.h>

#include "os/record/memory_files.h"
#include "rdma/test_link_statistics.h"

namespace railbed::rdma {
namespace {

TEST(PortCounters, AreTheKernelsInBytes) {
  os::MemoryFiles files;
  const std::string folder = "/sys/class/infiniband/mlx5_3/ports/1/";
  files.put_file(folder + "counters/port_xmit_data", "250\n");
  files.put_file(folder + "counters/port_rcv_packets", "7\n");
  files.put_file(folder + "counters/VL15_dropped", "N/A (no PMA)\n");
  files.put_file(folder + "hw_counters/lifespan", "10\n");
  files.put_file(folder + "hw_counters/out_of_sequence", "3\n");
  const Port port{.device = "mlx5_3", .port = 1, .netdev = {}};
  const PortCounters before = read_counters(files, nullptr, port);
  EXPECT_EQ(before, (PortCounters{{"out_of_sequence", 3}, {"port_rcv_packets", 7}, {"port_xmit_data_bytes", 1000}}));
  files.put_file(folder + "counters/port_xmit_data", "1250\n");
  files.put_file(folder + "hw_counters/out_of_sequence", "1\n");
  files.put_file(folder + "hw_counters/new", "1\n");
  EXPECT_EQ(moved(before, read_counters(files, nullptr, port)), (PortCounters{{"port_xmit_data_bytes", 4000}}));
  // Pause frames are the interface's. A device's counter of that name stays what it is.
  TestLinkStatistics interfaces;
  interfaces.drivers["eth3"] = {{"tx_prio3_pause", 8}, {"out_of_sequence", 9}, {"new_pause", 7}};
  EXPECT_EQ(read_counters(files, &interfaces, {.device = "mlx5_3", .port = 1, .netdev = "eth3"}),
            (PortCounters{{"new", 1},
                          {"new_pause", 7},
                          {"out_of_sequence", 1},
                          {"port_rcv_packets", 7},
                          {"port_xmit_data_bytes", 5000},
                          {"tx_prio3_pause", 8}}));
  EXPECT_TRUE(read_counters(files, &interfaces, {.device = {}, .port = 1, .netdev = "eth3"}).empty()) << "over TCP";
  EXPECT_TRUE(read_counters(files, nullptr, {}).empty());
  EXPECT_TRUE(read_counters(files, nullptr, {.device = "mlx5_4", .port = 1, .netdev = {}}).empty());
}

}  // namespace
}  // namespace railbed::rdma
