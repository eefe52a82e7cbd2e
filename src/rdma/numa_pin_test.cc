// SPDX-License-Identifier: Apache-2.0
#include "rdma/numa_pin.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "os/record/memory_files.h"

namespace railbed::rdma {
namespace {

TEST(CpuList, IsTheKernels) {
  EXPECT_EQ(cpus_of("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(cpus_of(""), std::vector<int>());
  for (const char* list : {"0", "0-3,8", "0-15,32-47", "1,3,5"}) EXPECT_EQ(cpu_list(*cpus_of(list)), list);
  for (const char* wrong : {"x", "3-1", "1-", "-1", "0-9999999", "1,1", "2,0", "0,,1", "0-1-2"})
    EXPECT_EQ(cpus_of(wrong), std::nullopt) << wrong;
}

TEST(NumaNode, IsUnknownWhereTheKernelSaysMinusOne) {
  os::MemoryFiles files;
  files.put_file("/sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
  files.put_file("/sys/class/infiniband/mlx5_1/device/numa_node", "-1\n");
  EXPECT_EQ(numa_node_of(files, "mlx5_0"), 1);
  EXPECT_EQ(numa_node_of(files, "mlx5_1"), std::nullopt);
  EXPECT_EQ(numa_node_of(files, "rxe0"), std::nullopt);
}

// The first processor that this thread may use.
int own_cpu() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &set)) ++cpu;
  return cpu;
}
int count() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

TEST(NumaPin, LastsAsLongAsTheObject) {
  os::MemoryFiles files;
  const int before = count();
  files.put_file("/sys/devices/system/node/node3/cpulist", fmt::format("{},8190-8191\n", own_cpu()));
  {
    auto pin = NumaPin::to_node(files, 3);
    ASSERT_TRUE(pin) << pin.error().to_string();
    EXPECT_EQ(pin->cpus(), std::to_string(own_cpu()));
    const NumaPin moved = std::move(*pin);
    EXPECT_EQ(count(), 1);
  }
  EXPECT_EQ(count(), before);
}

TEST(NumaPin, IsRefusedWhereNoneOfItsProcessorsMayBeUsed) {
  os::MemoryFiles files;
  files.put_file("/sys/devices/system/node/node3/cpulist", "8190-8191\n");
  files.put_file("/sys/devices/system/node/node4/cpulist", "none\n");
  const auto why_not = [&](int64_t node) {
    const auto pin = NumaPin::to_node(files, node);
    return pin ? "pinned" : pin.error().to_string();
  };
  EXPECT_EQ(why_not(3), "no processor of NUMA node 3 (8190-8191) is allowed for this process");
  EXPECT_EQ(why_not(4), "/sys/devices/system/node/node4/cpulist is not a list of processors");
  EXPECT_NE(why_not(5).find("ENOENT"), std::string::npos) << why_not(5);
}

}  // namespace
}  // namespace railbed::rdma
