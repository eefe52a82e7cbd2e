// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/free_memory.h"

#include <gtest/gtest.h>

#include "os/record/memory_files.h"

namespace railbed::perf {
namespace {

TEST(FreeMemory, IsThatOfTheMachineOrOfTheNarrowestGroup) {
  os::MemoryFiles files;
  EXPECT_EQ(free_memory_bytes(files), std::nullopt);
  EXPECT_TRUE(need_memory(files, int64_t{1} << 50)) << "what is not known limits nothing";
  files.put_file("/proc/meminfo", "MemTotal:       8000000 kB\nMemAvailable:   1000 kB\n");
  EXPECT_EQ(free_memory_bytes(files), 1'024'000);
  files.put_file("/proc/self/cgroup", "0::/pods/this\n");
  files.put_file("/sys/fs/cgroup/pods/this/memory.max", "max\n");
  files.put_file("/sys/fs/cgroup/pods/this/memory.current", "5000\n");
  EXPECT_EQ(free_memory_bytes(files), 1'024'000);
  files.put_file("/sys/fs/cgroup/pods/memory.max", "700000\n");
  files.put_file("/sys/fs/cgroup/pods/memory.current", "300000\n");
  EXPECT_EQ(free_memory_bytes(files), 400'000);
  files.put_file("/sys/fs/cgroup/pods/this/memory.max", "5100\n");
  EXPECT_EQ(free_memory_bytes(files), 100);
  files.put_file("/sys/fs/cgroup/pods/this/memory.max", "100\n");
  EXPECT_EQ(free_memory_bytes(files), 0);
}

// In a container the own group is the root.
TEST(FreeMemory, OfAContainer) {
  os::MemoryFiles files;
  files.put_file("/proc/self/cgroup", "12:cpu:/x\n0::/\n");
  files.put_file("/sys/fs/cgroup/memory.max", "671088640\n");
  files.put_file("/sys/fs/cgroup/memory.current", "134217728\n");
  EXPECT_TRUE(need_memory(files, int64_t{512} << 20));
  const auto refused = need_memory(files, (int64_t{512} << 20) + (1 << 19));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().to_string(),
            "this test needs 512.5 MiB of memory, but only 512.0 MiB are free\n"
            "  lower --size, --max-size or --qps, or give the container more memory");
}

}  // namespace
}  // namespace railbed::perf
