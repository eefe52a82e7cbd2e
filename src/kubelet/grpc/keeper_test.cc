// SPDX-License-Identifier: Apache-2.0
// The device plugin's thread while nothing happens.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

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

// Announces nothing but what wake() says, and keeps until when the keeper wanted to sleep.
class TriggeredWatch : public os::DirectoryWatch {
 public:
  Result<void> watch(const std::string&) override { return {}; }
  Result<void> next(os::Deadline deadline) override {
    std::unique_lock lock(mutex_);
    deadlines_.push_back(deadline);
    changed_.notify_all();
    changed_.wait(lock, [&] { return woken_; });
    woken_ = false;
    return {};
  }
  void wake() override {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  // Until the keeper has fallen asleep for so many times.
  bool sleeps(size_t times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return deadlines_.size() >= times; });
  }
  std::vector<os::Deadline> deadlines() {
    const std::scoped_lock lock(mutex_);
    return deadlines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<os::Deadline> deadlines_;
  bool woken_ = false;
};

TEST(Keeper, SleepsWhileNothingHappens) {
  TemporaryFolder folder;
  CountingDisk disk;
  os::MemoryFiles files;
  PodResourcesClient client{folder / "kubelet.sock"};
  auto watch = std::make_unique<TriggeredWatch>();
  TriggeredWatch& triggered = *watch;
  const os::Deadline begun = std::chrono::steady_clock::now();
  auto plugin = DevicePlugin::start({disk, files, client},
                                    {.directory = folder.path(),
                                     .checkpoint = folder / "kubelet_internal_checkpoint",
                                     .device_info = folder / "devinfo"},
                                    std::move(watch));
  ASSERT_TRUE(plugin.has_value());
  ASSERT_TRUE(triggered.sleeps(1));
  EXPECT_EQ(disk.looks, 1);
  EXPECT_TRUE((*plugin)->offer({}).has_value());
  ASSERT_TRUE(triggered.sleeps(2));
  EXPECT_EQ(disk.looks, 2) << "a look for each time that it is woken";
  for (const os::Deadline deadline : triggered.deadlines())
    EXPECT_GE(deadline, begun + std::chrono::seconds(5)) << "what is not announced is looked for each 5 s";
}

}  // namespace
}  // namespace railbed::kubelet
