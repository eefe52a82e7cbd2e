// SPDX-License-Identifier: Apache-2.0
#include "perf/port_counters.h"

#include <gtest/gtest.h>

#include "os/record/memory_files.h"

namespace railbed::perf {
namespace {

TEST(PortCounters, AreTheKernelsInBytes) {
  os::MemoryFiles files;
  const std::string port = "/sys/class/infiniband/mlx5_3/ports/1/";
  files.put_file(port + "counters/port_xmit_data", "250\n");
  files.put_file(port + "counters/port_rcv_packets", "7\n");
  files.put_file(port + "counters/VL15_dropped", "N/A (no PMA)\n");
  files.put_file(port + "hw_counters/lifespan", "10\n");
  files.put_file(port + "hw_counters/out_of_sequence", "3\n");
  const Endpoint end{.device = "mlx5_3", .port = 1};
  const PortCounters before = read_counters(files, end);
  EXPECT_EQ(before, (PortCounters{{"out_of_sequence", 3}, {"port_rcv_packets", 7}, {"port_xmit_data_bytes", 1000}}));
  files.put_file(port + "counters/port_xmit_data", "1250\n");
  files.put_file(port + "hw_counters/out_of_sequence", "1\n");
  files.put_file(port + "hw_counters/new", "1\n");
  EXPECT_EQ(moved(before, read_counters(files, end)), (PortCounters{{"port_xmit_data_bytes", 4000}}));
  EXPECT_TRUE(read_counters(files, {}).empty());
  EXPECT_TRUE(read_counters(files, {.device = "mlx5_4", .port = 1}).empty());
}

}  // namespace
}  // namespace railbed::perf
