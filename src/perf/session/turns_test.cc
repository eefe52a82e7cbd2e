// SPDX-License-Identifier: Apache-2.0
#include "perf/session/turns.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

namespace railbed::perf {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{60000};
constexpr milliseconds kOften{5};

Result<void> patient(int64_t, const std::string&) {
  return {};
}
Result<Turns::Turn> take(Turns& turns, const TurnNeed& need) {
  return turns.take(need, kLong, kOften, patient);
}
// Why there is no turn now; "" where there is one.
std::string refusal(Turns& turns, const TurnNeed& need) {
  const auto turn = turns.take(need, kLong, kOften, [](int64_t ahead, const std::string& reason) -> Result<void> {
    return fail(Code::kBusy, "{} ahead: {}", ahead, reason);
  });
  return turn ? "" : turn.error().message;
}

TEST(Turns, OneMeasurementPerDevice) {
  Turns turns({});
  {
    const auto first = take(turns, {.device = "eth0"});
    ASSERT_TRUE(first);
    EXPECT_EQ(refusal(turns, {.device = "eth0"}), "1 ahead: another measurement is on eth0");
    EXPECT_EQ(refusal(turns, {.device = "eth1"}), "");
  }
  EXPECT_EQ(refusal(turns, {.device = "eth0"}), "");
}

TEST(Turns, NeverMoreThanTheBudget) {
  Turns turns({.memory_bytes = 1000, .streams = 10});
  const auto first = take(turns, {.device = "a", .memory_bytes = 600, .streams = 4});
  ASSERT_TRUE(first);
  EXPECT_EQ(refusal(turns, {.device = "b", .memory_bytes = 401}),
            "1 ahead: other measurements have the server's memory or streams");
  EXPECT_EQ(refusal(turns, {.device = "b", .streams = 7}),
            "1 ahead: other measurements have the server's memory or streams");
  EXPECT_EQ(refusal(turns, {.device = "b", .memory_bytes = 400, .streams = 6}), "");
  EXPECT_EQ(refusal(turns, {.device = "b", .memory_bytes = int64_t{3} << 20, .streams = 2}),
            "this test needs 3 MiB of memory and 2 streams of the server, which gives at most 0 MiB and 10 streams");
  EXPECT_EQ(refusal(turns, {.device = "b", .streams = 11}),
            "this test needs 0 MiB of memory and 11 streams of the server, which gives at most 0 MiB and 10 streams");
}

// In the order of arrival; who waits knows how many are before.
TEST(Turns, WaitersComeInTheirOrder) {
  Turns turns({});
  std::optional<Turns::Turn> first(*take(turns, {.device = "eth0"}));
  std::atomic<int> waiting = 0;
  std::mutex mutex;
  std::vector<int> order;
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i <= 3; ++i) {
      threads.emplace_back([&, i] {
        const auto turn = turns.take({.device = "eth0"}, kLong, kOften, [&, i](int64_t ahead, const std::string&) {
          if (ahead == i) waiting = std::max(waiting.load(), i);
          return Result<void>();
        });
        ASSERT_TRUE(turn);
        const std::lock_guard lock(mutex);
        order.push_back(i);
      });
      while (waiting < i) std::this_thread::yield();  // so that the next comes after it
    }
    first.reset();
  }
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(Turns, PatienceEnds) {
  Turns turns({});
  const auto first = take(turns, {.device = "eth0"});
  const auto second = turns.take({.device = "eth0"}, milliseconds(0), kOften, patient);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "still queued after 0 ms: another measurement is on eth0");
}

}  // namespace
}  // namespace railbed::perf
