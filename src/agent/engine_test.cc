// SPDX-License-Identifier: Apache-2.0
#include "agent/engine.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/test_waits.h"
#include "os/fake/disk.h"
#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;

// A directory of its own for state files.
class Directory {
 public:
  Directory() {
    std::string name = std::filesystem::temp_directory_path() / "railbed-engine.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  state::OpenOptions options(bool shared, const std::string& command) const {
    return {.directory = path_, .boot_id = "boot", .command = command, .shared = shared};
  }

 private:
  std::string path_;
};

struct EngineRig {
  Directory directory;
  std::unique_ptr<os::FakeKernel> kernel = std::make_unique<os::FakeKernel>();
  std::unique_ptr<state::Store> store = *state::open_store(directory.options(true, "railbed agent"));
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  os::FakeDisk disk;
  DurableRecords records{disk, kDurableRecords, "boot"};
  Engine engine{*kernel, *store, *blocks, records};
};

TEST(Engine, OneTurnAtATimeWithADeadline) {
  EngineRig rig;
  auto turn = rig.engine.turn(milliseconds(0));
  ASSERT_TRUE(turn.has_value());
  std::thread other([&] {
    auto second = rig.engine.turn(milliseconds(1));
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, Code::kBusy);
  });
  other.join();
}

// VFs take seconds to change. Pods are attached meanwhile, other processes change nothing, and what changes is known.
TEST(Engine, AChangeOfVfsLeavesTheTurnToPodsAndKeepsOtherProcessesOut) {
  EngineRig rig;
  auto up = state::open_store(rig.directory.options(true, "railbed up"));
  ASSERT_TRUE(up.has_value());
  const PciAddress vf = *PciAddress::parse("0000:01:10.0");
  std::unique_ptr<Engine::Change> change;
  {
    auto turn = rig.engine.turn(milliseconds(0));
    ASSERT_TRUE(turn.has_value());
    change = *rig.engine.change(*turn, {vf});
  }
  {
    auto turn = rig.engine.turn(milliseconds(0));
    ASSERT_TRUE(turn.has_value()) << turn.error().to_string();
    EXPECT_TRUE(turn->is_changing(vf));
    EXPECT_TRUE(turn->store().put_note("pod", "attached").has_value());
  }
  EXPECT_TRUE(change->store().put_note("step", "done").has_value());
  auto hold = (*up)->hold(milliseconds(0));
  ASSERT_FALSE(hold.has_value()) << "the change still has the lock";
  EXPECT_NE(hold.error().message.find("railbed agent"), std::string::npos) << hold.error().message;
  change.reset();
  EXPECT_FALSE(rig.engine.is_changing(vf));
  EXPECT_TRUE((*up)->hold(milliseconds(0)).has_value());
}

TEST(Engine, ATurnKeepsOtherProcessesOutAndNamesItsHolder) {
  EngineRig rig;
  {
    auto turn = rig.engine.turn(milliseconds(0));
    ASSERT_TRUE(turn.has_value());
    auto up = state::open_store(rig.directory.options(false, "railbed up"));
    ASSERT_FALSE(up.has_value());
    EXPECT_EQ(up.error().code, Code::kBusy);
    EXPECT_NE(up.error().message.find("railbed agent"), std::string::npos) << up.error().message;
  }
  auto up = state::open_store(rig.directory.options(false, "railbed up"));
  ASSERT_TRUE(up.has_value());
  auto turn = rig.engine.turn(milliseconds(0));
  ASSERT_FALSE(turn.has_value());
  EXPECT_NE(turn.error().message.find("railbed up"), std::string::npos) << turn.error().message;
}

TEST(Engine, ReadsAgainWhatAnotherProcessWrote) {
  EngineRig rig;
  api::IpamConfig config{.type = api::IpamType::kHostLocal};
  config.range_sets = {{{.subnet = *IpPrefix::parse("10.0.0.0/29"),
                         .addresses = {*IpAddress::parse("10.0.0.2"), *IpAddress::parse("10.0.0.4")}}}};
  auto lowest = [&] {
    auto turn = rig.engine.turn(milliseconds(0));
    EXPECT_TRUE(turn.has_value());
    auto given = turn->addresses().allocate(config, "n", {}, {"p", "net1"});
    EXPECT_TRUE(given.has_value());
    turn->addresses().release({"p", "net1"});
    return given->front().address.address.to_string();
  };
  EXPECT_EQ(lowest(), "10.0.0.2");
  {
    auto up = state::open_store(rig.directory.options(false, "railbed up"));
    ASSERT_TRUE(up.has_value());
    ASSERT_TRUE((*up)->put_lease({"host-local:n", *IpAddress::parse("10.0.0.2"), "other", "net1"}).has_value());
  }
  EXPECT_EQ(lowest(), "10.0.0.3");
}

TEST(Engine, ReadsAgainWhatWasWrittenBesideTheAllocator) {
  EngineRig rig;
  auto turn = rig.engine.turn(milliseconds(0));
  ASSERT_TRUE(turn.has_value());
  turn->addresses().take("host-local:n", *IpAddress::parse("10.0.0.2"), {"gone", "net1"});
  ASSERT_TRUE(turn->store().put_lease({"host-local:n", *IpAddress::parse("10.0.0.3"), "there", "net1"}).has_value());
  ASSERT_TRUE(turn->read_addresses().has_value());
  EXPECT_FALSE(turn->addresses().holder("host-local:n", *IpAddress::parse("10.0.0.2")).has_value());
  EXPECT_TRUE(turn->addresses().holder("host-local:n", *IpAddress::parse("10.0.0.3")).has_value());
}

TEST(Engine, RequestsOfOneContainerWaitForEachOther) {
  EngineRig rig;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        auto lock = rig.engine.container("4f3a");
        most = std::max(most.load(), ++inside);
        --inside;
      }
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(most, 1);
  auto one = rig.engine.container("a");
  auto two = rig.engine.container("b");  // another container does not wait
}

// The kernel removes interfaces one after another: a burst of DELs must not leave all threads waiting in it.
TEST(Engine, EightInterfacesAreRemovedAtOnceAndTheNinthWaits) {
  EngineRig rig;
  std::vector<std::unique_ptr<Engine::Removal>> eight;
  for (int i = 0; i < 8; ++i) eight.push_back(rig.engine.removal());
  std::atomic<bool> removes = false;
  std::atomic<pid_t> waits = 0;
  std::jthread ninth([&] {
    waits = ::gettid();
    const auto removal = rig.engine.removal(std::chrono::hours(1));
    removes = true;
  });
  std::string before;
  EXPECT_TRUE(eventually([&] {
    const std::string now = waits != 0 ? sleep_of(waits) : "";
    return !now.empty() && now == std::exchange(before, now);
  }));
  EXPECT_FALSE(removes);
  eight.pop_back();
  ninth.join();
  EXPECT_TRUE(removes);
}

TEST(Engine, RemovalsThatNeverEndKeepNoOneWaitingForLong) {
  EngineRig rig;
  std::vector<std::unique_ptr<Engine::Removal>> stuck;
  for (int i = 0; i < 8; ++i) stuck.push_back(rig.engine.removal());
  for (int i = 0; i < 3; ++i) stuck.push_back(rig.engine.removal(milliseconds(1)));
  for (const auto& one : stuck) EXPECT_NE(one, nullptr);
}

TEST(Engine, KeepsNoOneWaitingWhenItStops) {
  EngineRig rig;
  auto turn = rig.engine.turn(kTurnWait);
  ASSERT_TRUE(turn.has_value());
  std::jthread waits([&] {
    auto second = rig.engine.turn(std::chrono::minutes(10));
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().message, "the agent is stopping while other requests were in progress");
  });
  rig.engine.stop();
  waits.join();
}

}  // namespace
}  // namespace railbed::agent
