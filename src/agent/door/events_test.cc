// SPDX-License-Identifier: Apache-2.0
#include "agent/door/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::agent {
namespace {

using std::chrono::seconds;

struct EventsRig {
  Event::Time now = Event::Time(seconds(1'700'000'000));
  Events events{[this] { return now; }};
};

TEST(Events, TheSameAgainIsTheSameEvent) {
  EventsRig world;
  EXPECT_EQ(world.events.happened("pending-del", "1.del", "busy"), 1U);
  world.now += seconds(5);
  EXPECT_EQ(world.events.happened("pending-del", "1.del", "busier"), 2U);
  EXPECT_EQ(world.events.happened("pending-del", "2.del", "no\ncode\x1b[31m"), 1U);
  const std::vector<Event> all = world.events.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(doc::to_json(to_value(all[0])),
            R"({"kind":"pending-del","about":"2.del","count":1,"first":"2023-11-14T22:13:25Z",)"
            R"("last":"2023-11-14T22:13:25Z","lastError":"no\\x0acode\\x1b[31m"})");
  EXPECT_EQ(doc::to_json(to_value(all[1])),
            R"({"kind":"pending-del","about":"1.del","count":2,"first":"2023-11-14T22:13:20Z",)"
            R"("last":"2023-11-14T22:13:25Z","lastError":"busier"})");
  world.events.over("pending-del", "1.del");
  world.events.over("pending-del", "never");
  EXPECT_EQ(world.events.all().size(), 1U);
}

TEST(Events, AreBoundedAndTheOldestGoes) {
  EventsRig world;
  const std::string much(1 << 20, 'x');
  for (int i = 0; i < 1000; ++i) {
    (void)world.events.happened("limit", "stays", "again");
    (void)world.events.happened("request", fmt::format("{}{}", i, much), much);
  }
  const std::vector<Event> all = world.events.all();
  EXPECT_EQ(all.size(), Events::kMost);
  size_t bytes = 0;
  for (const Event& event : all) bytes += event.about.size() + event.last_error.size();
  EXPECT_LT(bytes, Events::kMost * 4096);
  EXPECT_EQ(all[1].about, "stays");
  EXPECT_EQ(all[1].count, 1000U);
}

TEST(Events, FailedRequestsAreKeptByWhatTheirCodeIsAbout) {
  EventsRig world;
  cni::Request request{.command = cni::Command::kAdd, .type = "sriov", .container_id = "c1"};
  world.events.failed(request, cni::error_with(cni::kIo, "disk is full"));
  request.args = {{"K8S_POD_NAMESPACE", "ai"}, {"K8S_POD_NAME", "vllm-0"}};
  world.events.failed(request, cni::error_with(cni::kExhausted, "no VF"));
  request.command = cni::Command::kDel;
  world.events.failed(request, cni::error_with(cni::kStarved, "no thread"));
  world.events.failed(request, cni::error_with(cni::kTryAgainLater, "busy"));
  std::vector<std::string> all;
  for (const Event& event : world.events.all())
    all.push_back(fmt::format("{} | {} | {}", event.kind, event.about, event.last_error));
  EXPECT_THAT(all, testing::ElementsAre(
                       "request | DEL code 11 | ai/vllm-0: busy", "starved | DEL code 105 | ai/vllm-0: no thread",
                       "exhausted | ADD code 102 | ai/vllm-0: no VF", "disk | ADD code 5 | c1: disk is full"));
}

}  // namespace
}  // namespace railbed::agent
