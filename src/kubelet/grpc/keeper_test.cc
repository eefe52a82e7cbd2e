// SPDX-License-Identifier: Apache-2.0
// The device plugin's thread while nothing happens.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "kubelet/grpc/device_plugin.h"
#include "kubelet/grpc/pod_resources_client.h"
#include "kubelet/grpc/test_kubelet.h"
#include "os/fake/disk.h"
#include "os/record/memory_files.h"

namespace railbed::kubelet {
namespace {

// Counts how often somebody looks for the kubelet's socket, which is not there.
class CountingDisk : public os::FakeDisk {
 public:
  Result<os::FileStamp> stamp(const std::string& path) override {
    ++looks;
    return FakeDisk::stamp(path);
  }
  std::atomic<int> looks = 0;
};

TEST(Keeper, SleepsWhileNothingHappens) {
  TemporaryFolder folder;
  CountingDisk disk;
  os::MemoryFiles files;
  PodResourcesClient client{folder / "kubelet.sock"};
  auto plugin = DevicePlugin::start({disk, files, client}, {.directory = folder.path(),
                                                            .checkpoint = folder / "kubelet_internal_checkpoint",
                                                            .device_info = folder / "devinfo"});
  ASSERT_TRUE(plugin.has_value());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (disk.looks == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GE(disk.looks, 1);
  EXPECT_LE(disk.looks, 10) << "what is not announced is looked for each 5 s";
}

}  // namespace
}  // namespace railbed::kubelet
