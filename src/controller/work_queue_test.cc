// SPDX-License-Identifier: Apache-2.0
#include "controller/work_queue.h"

#include <thread>

#include <gtest/gtest.h>

#include "kube/fake/clock.h"

namespace railbed::controller {
namespace {

using kube::milliseconds;

Task node(const std::string& name) {
  return {"node", name};
}

struct WorkQueueTest : ::testing::Test {
  kube::fake::FakeClock clock;
  WorkQueue queue{clock};
  std::string next() {
    if (queue.idle()) return "";
    const std::optional<Task> task = queue.take({});
    return task ? task->key : "";
  }
};

TEST_F(WorkQueueTest, HasEachTaskOnce) {
  queue.add(node("a"));
  queue.add(node("b"));
  queue.add(node("a"));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(next(), "a");
  EXPECT_EQ(next(), "b");
}

TEST_F(WorkQueueTest, DoesAgainWhatCameMeanwhileAndNeverTwiceAtOnce) {
  queue.add(node("a"));
  const Task task = *queue.take({});
  queue.add(node("a"));
  EXPECT_EQ(queue.size(), 1u) << "it is being worked on";
  queue.done(task);
  EXPECT_EQ(next(), "a");
  queue.done(task);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_TRUE(queue.idle());
}

TEST_F(WorkQueueTest, WaitsForTheEarliestTime) {
  queue.add(node("a"), milliseconds(500));
  queue.add(node("a"), milliseconds(100));
  queue.add(node("a"), milliseconds(900));
  clock.advance(milliseconds(99));
  EXPECT_EQ(next(), "");
  clock.advance(milliseconds(1));
  EXPECT_EQ(next(), "a");
}

TEST_F(WorkQueueTest, PausesLongerWithEachFailure) {
  queue.add(node("a"));
  for (const int pause_ms : {375, 750, 1500}) {  // three quarters of 500 ms, doubled
    const Task task = *queue.take({});
    queue.failed(task);
    clock.advance(milliseconds(pause_ms - 1));
    EXPECT_TRUE(queue.idle());
    clock.advance(milliseconds(1));
    EXPECT_FALSE(queue.idle());
  }
  queue.done(*queue.take({}));
  queue.add(node("a"));
  queue.failed(*queue.take({}));
  clock.advance(milliseconds(375));
  EXPECT_FALSE(queue.idle()) << "a success ends the row";
}

TEST(WorkQueue, WakesWhoWaits) {
  const auto clock = kube::real_clock();
  WorkQueue queue(*clock);
  std::stop_source stop;
  std::optional<Task> taken;
  std::jthread worker([&] { taken = queue.take(stop.get_token()); });
  queue.add(node("late"), std::chrono::hours(1));
  queue.add(node("a"));
  worker.join();
  EXPECT_EQ(taken->key, "a");
  std::jthread other([&] { taken = queue.take(stop.get_token()); });
  stop.request_stop();
  other.join();
  EXPECT_FALSE(taken);
}

}  // namespace
}  // namespace railbed::controller
