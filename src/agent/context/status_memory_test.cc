// SPDX-License-Identifier: Apache-2.0
#include "agent/context/status_memory.h"

#include <condition_variable>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

Result<void> no(int code, const std::string& message) {
  return cni::fail_with(code, message);
}

// What is looked up, and how often it was.
class Network {
 public:
  StatusMemory::LookUp look_up() {
    return [this] {
      std::lock_guard lock(mutex_);
      ++looks_;
      changed_.notify_all();
      return answer_;
    };
  }
  void answers(Result<void> answer) {
    std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  bool looked(int times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(10), [&] { return looks_ >= times; });
  }
  int looks() {
    std::lock_guard lock(mutex_);
    return looks_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Result<void> answer_;
  int looks_ = 0;
};

class StatusMemoryTest : public testing::Test {
 protected:
  os::FakeKernel kernel_;
  os::Clock& clock_ = kernel_.clock();
  Network network_;
  StatusMemory memory_;  // last: its thread uses the others

  Result<void> ask(const std::string& of = "a") { return memory_.answer(clock_, of, network_.look_up()); }
};

TEST_F(StatusMemoryTest, RemembersAYesForTenSeconds) {
  EXPECT_TRUE(ask().has_value());
  clock_.wait_until(clock_.now() + seconds(10));
  EXPECT_TRUE(ask().has_value());
  EXPECT_EQ(network_.looks(), 1);
  clock_.wait_until(clock_.now() + seconds(1));
  network_.answers(no(cni::kIo, "no bridge"));
  EXPECT_TRUE(ask().has_value()) << "no caller waits for the second look";
  EXPECT_TRUE(network_.looked(2));
}

TEST_F(StatusMemoryTest, LooksAfterANoAgainWithinASecondSoThatWhatIsFixedIsReportedSoon) {
  network_.answers(no(cni::kIo, "no bridge"));
  EXPECT_FALSE(ask().has_value());
  clock_.wait_until(clock_.now() + seconds(1));
  EXPECT_FALSE(ask().has_value());
  EXPECT_EQ(network_.looks(), 1);
  network_.answers({});
  clock_.wait_until(clock_.now() + std::chrono::milliseconds(1));
  EXPECT_FALSE(ask().has_value());
  EXPECT_TRUE(network_.looked(2));
  // The answer is there a moment after the look; asking does not look up again meanwhile.
  for (int i = 0; i < 10'000 && !ask().has_value(); ++i) std::this_thread::yield();
  EXPECT_TRUE(ask().has_value());
}

// 51 says that running pods have limited connectivity, which only a plugin can know.
TEST_F(StatusMemoryTest, EveryOtherReasonMeansThatNoAddCanBeServed) {
  network_.answers(no(cni::kIo, "no bridge"));
  EXPECT_EQ(cni::to_json(ask("a").error(), ""), cni::to_json(cni::error_with(cni::kUnavailable, "no bridge"), ""));
  network_.answers(no(cni::kUnavailableLimited, "slow"));
  EXPECT_EQ(ask("b").error(), cni::error_with(cni::kUnavailableLimited, "slow"));
}

// The page /readyz has a line per reason.
TEST_F(StatusMemoryTest, ReportsTheReasonsOfNetworksThatAreStillAskedFor) {
  network_.answers(no(cni::kIo, "no bridge"));
  (void)ask("a");
  network_.answers({});
  (void)ask("b");
  clock_.wait_until(clock_.now() + minutes(1));
  network_.answers(no(cni::kIo, "no uplink"));
  (void)ask("c");
  EXPECT_THAT(memory_.failures(clock_), ElementsAre("no bridge", "no uplink"));
  clock_.wait_until(clock_.now() + minutes(4));
  EXPECT_THAT(memory_.failures(clock_), ElementsAre("no uplink")) << "the first one is no longer requested";
  clock_.wait_until(clock_.now() + minutes(1));
  EXPECT_THAT(memory_.failures(clock_), IsEmpty());
}

// Configurations are the caller's: it must not fill the memory with them.
TEST_F(StatusMemoryTest, ForgetsAllWhenThereAreTooManyNetworks) {
  network_.answers(no(cni::kIo, "no bridge"));
  for (int i = 0; i < 64; ++i) (void)ask(std::to_string(i));
  EXPECT_EQ(memory_.failures(clock_).size(), 64u);
  (void)ask("0");
  EXPECT_EQ(memory_.failures(clock_).size(), 64u) << "one that is known needs no room";
  (void)ask("64");
  EXPECT_EQ(memory_.failures(clock_).size(), 1u);
}

}  // namespace
}  // namespace railbed::agent
