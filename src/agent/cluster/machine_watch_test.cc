// SPDX-License-Identifier: Apache-2.0
// What is reported of a machine in memory, and when.
#include "agent/cluster/machine_watch.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "agent/test_waits.h"
#include "facts/collect.h"
#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;

constexpr const char* kNumVfs = "/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs";

class MachineWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kernel_.links().value()->change(index_of("eth0"), {.up = true}).has_value());
    ASSERT_TRUE(kernel_.files().write(kNumVfs, "2").has_value());
    ASSERT_TRUE(watch_.open().has_value());
    watch_.expect(links_of_pfs(facts::collect(kernel_, {.node = "node1"})));
  }
  IfIndex index_of(const char* name) { return kernel_.links().value()->find(IfName{name}, os::WithVfs::kNo)->index; }
  // Hears all that has been announced, and how many changes of it were reported.
  int hear() {
    const int before = reported_;
    while (watch_.hear_devices(kernel_.clock().now()).has_value()) {
    }
    (void)watch_.hear_links(kernel_.clock().now());
    return reported_ - before;
  }
  void pass_time(milliseconds time) { EXPECT_FALSE(watch_.hear_links(kernel_.clock().now() + time).has_value()); }

  os::FakeKernel kernel_{os::FakeMachine::lab()};
  int reported_ = 0;
  MachineWatch watch_{kernel_, [this] { ++reported_; }};
};

TEST_F(MachineWatchTest, ALinkThatGoesAndComesIsReported) {
  EXPECT_EQ(hear(), 0);
  kernel_.set_carrier("eth0", false);
  EXPECT_EQ(hear(), 1);
  pass_time(milliseconds(1100));
  EXPECT_EQ(hear(), 0) << "the same is reported once";
  kernel_.set_carrier("eth0", true);
  EXPECT_EQ(hear(), 1);
}

TEST_F(MachineWatchTest, LinksOfPodsAndOfPfsWithoutVfsAreNot) {
  kernel_.set_carrier("eth1", false);
  kernel_.set_carrier("eth0v0", false);
  ASSERT_TRUE(kernel_.netns().create("pod").has_value());
  auto pod = kernel_.netns().open("/run/netns/pod").value();
  ASSERT_TRUE(kernel_.links()
                  .value()
                  ->change(index_of("eth0v0"), {.name = IfName{"net1"}, .netns = pod.get(), .up = true})
                  .has_value());
  EXPECT_EQ(hear(), 0);
}

TEST_F(MachineWatchTest, ALinkThatWentBeforeItWasExpectedIsReported) {
  auto seen = links_of_pfs(facts::collect(kernel_, {.node = "node1"}));
  kernel_.set_carrier("eth0", false);
  (void)hear();
  watch_.expect(std::move(seen));  // by a look that began before
  pass_time(milliseconds(1100));
  EXPECT_EQ(reported_, 2);
}

TEST_F(MachineWatchTest, ADriverThatIsTakenAwayIsReported) {
  ASSERT_TRUE(kernel_.files().write("/sys/bus/pci/devices/0000:01:10.0/driver/unbind", "0000:01:10.0").has_value());
  EXPECT_EQ(hear(), 1);
}

TEST_F(MachineWatchTest, ManyChangesAreReportedOnceASecond) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(kernel_.files().write(kNumVfs, "0").has_value());
    ASSERT_TRUE(kernel_.files().write(kNumVfs, "2").has_value());
  }
  EXPECT_EQ(hear(), 1);
  ASSERT_TRUE(kernel_.files().write(kNumVfs, "0").has_value());
  EXPECT_EQ(hear(), 0) << "the second one waits";
}

TEST_F(MachineWatchTest, AChangeThatCameTooSoonIsReportedLater) {
  std::atomic<int> reported = 0;
  MachineWatch watch(kernel_, [&] { ++reported; });
  watch.expect(links_of_pfs(facts::collect(kernel_, {.node = "node1"})));
  const std::jthread thread([&](std::stop_token stop) { watch.run(std::move(stop)); });
  const auto until_reported = [&](int number) {
    (void)eventually([&] { return reported >= number; });
    return reported.load();
  };
  kernel_.set_carrier("eth0", false);
  EXPECT_EQ(until_reported(1), 1);
  kernel_.set_carrier("eth0", true);
  EXPECT_EQ(until_reported(2), 2);
}

TEST(ConcernsVfs, WhatPodsDoDoesNot) {
  const auto concerns = [](const char* action, const char* subsystem, const char* devpath) {
    return concerns_vfs({.action = action, .subsystem = subsystem, .devpath = devpath, .properties = {}});
  };
  EXPECT_TRUE(concerns("unbind", "pci", "/devices/pci0000:00/0000:00:08.0/0000:01:10.0"));
  EXPECT_TRUE(concerns("bind", "pci", "/devices/pci0000:00/0000:00:08.0/0000:01:10.0"));
  EXPECT_TRUE(concerns("remove", "pci", "/devices/pci0000:00/0000:00:08.0/0000:01:10.0"));
  EXPECT_TRUE(concerns("remove", "infiniband", "/devices/pci0000:00/0000:00:08.0/0000:01:10.0/infiniband/mlx5_2"));
  EXPECT_TRUE(concerns("overrun", "", ""));
  EXPECT_FALSE(concerns("add", "infiniband", "/devices/virtual/infiniband/rxe0"));
  EXPECT_FALSE(concerns("add", "net", "/devices/virtual/net/veth1"));
  EXPECT_FALSE(concerns("move", "net", "/devices/pci0000:00/0000:00:08.0/0000:01:10.0/net/net1"));
  EXPECT_FALSE(concerns("add", "queues", "/devices/virtual/net/veth1/queues/rx-0"));
}

}  // namespace
}  // namespace railbed::agent
