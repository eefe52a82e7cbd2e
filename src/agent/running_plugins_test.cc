// SPDX-License-Identifier: Apache-2.0
#include "agent/running_plugins.h"

#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kAtOnce{0};
constexpr milliseconds kForEver = std::chrono::hours(1);

TEST(RunningPlugins, BeyondTheLimitARequestFailsAndNamesThePluginThatRunsMost) {
  os::FakeKernel kernel;
  RunningPlugins plugins(kernel, 3, kAtOnce);
  const auto first = plugins.slot("hangs");
  const auto second = plugins.slot("bridge");
  const auto third = plugins.slot("hangs");
  ASSERT_TRUE(first.has_value() && second.has_value() && third.has_value());
  const auto refused = plugins.slot("calico");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(),
            cni::error_with(cni::kTryAgainLater, "plugin calico: not executed, because 3 plugins are already running",
                            "2 of them are hangs; find out why they do not finish; the runtime will retry the pod"));
}

TEST(RunningPlugins, ASlotIsFreeAgainWhenItsPluginHasEnded) {
  os::FakeKernel kernel;
  RunningPlugins plugins(kernel, 1, kAtOnce);
  for (int i = 0; i < 3; ++i) {
    auto slot = plugins.slot("bridge");
    ASSERT_TRUE(slot.has_value());
    const RunningPlugins::Slot moved = *std::move(slot);  // counted once
    EXPECT_FALSE(plugins.slot("bridge").has_value());
  }
}

TEST(RunningPlugins, WhoWaitsGetsTheSlotOfOneThatEnds) {
  os::FakeKernel kernel;
  RunningPlugins plugins(kernel, 1, kForEver);
  auto running = std::make_unique<RunningPlugins::Slot>(plugins.slot("bridge").value());
  std::future<bool> waits = std::async(std::launch::async, [&] { return plugins.slot("bridge").has_value(); });
  running.reset();
  EXPECT_TRUE(waits.get());
}

// Half as many as may run; the next one fails at once, so that the threads of those who wait cannot be all that there
// are.
TEST(RunningPlugins, NotMoreWaitThanHalfOfThoseThatMayRun) {
  os::FakeKernel kernel;
  std::stop_source stop;
  RunningPlugins plugins(kernel, 4, kForEver, stop.get_token());
  std::vector<RunningPlugins::Slot> running;
  for (int i = 0; i < 4; ++i) running.push_back(plugins.slot("hangs").value());
  std::vector<std::future<Result<RunningPlugins::Slot>>> all;
  for (int i = 0; i < 3; ++i) all.push_back(std::async(std::launch::async, [&] { return plugins.slot("hangs"); }));
  // One of the three is refused, whichever came last; the two others wait until the agent stops.
  std::vector<std::string> messages;
  while (messages.empty())
    for (auto& one : all)
      if (one.valid() && one.wait_for(milliseconds(1)) == std::future_status::ready)
        messages.push_back(one.get().error().story());
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0], "plugin hangs: not executed, because 4 plugins are already running");
  stop.request_stop();
  for (auto& one : all) {
    if (!one.valid()) continue;
    EXPECT_EQ(one.get().error(),
              cni::error_with(cni::kTryAgainLater, "plugin hangs: not executed, the agent is stopping",
                              "the next agent will execute it"));
  }
}

}  // namespace
}  // namespace railbed::agent
