// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/ask_once.h"

#include <algorithm>
#include <array>
#include <atomic>

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/cluster/test_cluster.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct AskOnceTest : testing::Test {
  kube::fake::ApiServer server;
  std::unique_ptr<kube::Clock> clock = kube::real_clock();
  kube::Client client{
      server, *clock, {.timeout = milliseconds(300), .try_timeout = milliseconds(300), .retry = {.tries = 1}}};
  std::stop_source stop;
  AskOnce asks{client, stop.get_token(), {.at_once = 3, .wait = seconds(600)}};

  // The server answers only when this is opened.
  std::mutex mutex;
  std::condition_variable opened;
  bool open = false;
  std::atomic<int> inside = 0;
  std::atomic<int> most_inside = 0;
  void hold() {
    server.before = [this](const kube::Request&) -> std::optional<kube::ApiError> {
      const int now = ++inside;
      for (int most = most_inside; now > most && !most_inside.compare_exchange_weak(most, now);) {
      }
      std::unique_lock lock(mutex);
      opened.wait(lock, [&] { return open; });
      --inside;
      return std::nullopt;
    };
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    open = true;
    opened.notify_all();
  }
};

TEST_F(AskOnceTest, WhoAsksForTheSameSharesOneRequest) {
  server.put(network_path("rail"), network_object("rail", "{}"));
  hold();
  std::atomic<int> right = 0;
  {
    std::array<std::atomic<pid_t>, 50> asking{};
    std::vector<std::jthread> threads;
    for (auto& one : asking)
      threads.emplace_back([&] {
        one = ::gettid();
        const auto answer = asks.get(kube::kNetworkDefinitions, {.ns = "ai", .name = "rail"});
        if (answer.has_value() && kube::key_of(**answer).name == "rail") ++right;
      });
    // All of them wait at one moment: none has run between two looks.
    std::vector<std::string> before;
    ASSERT_TRUE(eventually([&] {
      std::vector<std::string> now;
      for (const auto& one : asking) now.push_back(one != 0 ? sleep_of(one) : "");
      return inside == 1 && std::ranges::find(now, "") == now.end() && now == std::exchange(before, now);
    }));
    let_go();
  }
  EXPECT_EQ(right, 50);
  // Who comes after the answer asks again: a few of the fifty at most.
  EXPECT_LE(count_of(server, "GET " + network_path("rail")), 10u);
}

TEST_F(AskOnceTest, FewAreUnderWayAtOnce) {
  for (int i = 0; i < 20; ++i) server.put(pod_path(fmt::format("p{}", i)), pod_object(fmt::format("p{}", i)));
  hold();
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 20; ++i)
      threads.emplace_back([&, i] {
        if (asks.get(kube::kPods, {.ns = "ai", .name = fmt::format("p{}", i)}).has_value()) ++right;
      });
    ASSERT_TRUE(eventually([&] { return inside == 3; }));
    let_go();
  }
  EXPECT_EQ(right, 20);
  EXPECT_EQ(most_inside, 3);
  EXPECT_EQ(server.requests().size(), 20u) << "one for each pod";
}

TEST_F(AskOnceTest, OnlyTheServerSaysThatSomethingIsMissing) {
  const auto missing = asks.get(kube::kPods, {.ns = "ai", .name = "p"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  struct Case {
    kube::ApiError answer;
    Code code;
  };
  for (const auto& [answer, code] :
       {Case{away(), Code::kBusy}, Case{kube::refused("GET x", 503, ""), Code::kBusy},
        Case{kube::refused("GET x", 429, ""), Code::kBusy}, Case{kube::refused("GET x", 403, ""), Code::kDenied},
        Case{kube::unanswered(Code::kTimeout, kube::Delivery::kUnknown, "silence"), Code::kBusy}}) {
    server.before = [&](const kube::Request&) { return std::optional(answer); };
    const auto asked = asks.get(kube::kPods, {.ns = "ai", .name = "p"});
    ASSERT_FALSE(asked.has_value());
    EXPECT_EQ(asked.error().code, code) << answer.message;
    EXPECT_EQ(asked.error().message, answer.message);
  }
  server.before = nullptr;
  EXPECT_EQ(asks.get(kube::kPods, {.ns = "ai", .name = "../x"}).error().code, Code::kInvalid);
}

TEST_F(AskOnceTest, NoOneWaitsLongerThanSaid) {
  kube::fake::FakeClock stepped(kube::fake::FakeClock::Goes::kOnAdvance);
  kube::Client slow(server, stepped, {.retry = {.tries = 1}});
  AskOnce impatient(slow, stop.get_token(), {.at_once = 1, .wait = seconds(3)});
  hold();
  std::jthread first([&] { (void)impatient.get(kube::kPods, {.ns = "ai", .name = "a"}); });
  ASSERT_TRUE(eventually([&] { return inside == 1; }));
  std::array<std::optional<Error>, 2> errors;
  {
    std::vector<std::jthread> late;  // one that shares the request, one that waits for a place
    for (size_t i = 0; i < errors.size(); ++i)
      late.emplace_back([&, i] {
        const auto asked = impatient.get(kube::kPods, {.ns = "ai", .name = i == 0 ? "a" : "b"});
        if (!asked.has_value()) errors[i] = asked.error();
      });
    EXPECT_TRUE(eventually([&] { return stepped.waiting() == 2; }));
    stepped.advance(seconds(3));
  }
  for (size_t i = 0; i < errors.size(); ++i) {
    ASSERT_TRUE(errors[i].has_value());
    EXPECT_EQ(errors[i]->code, Code::kBusy);
    EXPECT_EQ(errors[i]->message,
              fmt::format("GET {}: the API server did not answer within 3 s, or too many requests are waiting for it",
                          pod_path(i == 0 ? "a" : "b")));
  }
  EXPECT_EQ(inside, 1) << "the first one still waits for its answer";
  let_go();
}

TEST_F(AskOnceTest, AStoppingAgentLetsGo) {
  hold();
  std::jthread first([&] { (void)asks.get(kube::kPods, {.ns = "ai", .name = "a"}); });
  ASSERT_TRUE(eventually([&] { return inside == 1; }));
  std::optional<Error> error;
  std::jthread second([&] { error = asks.get(kube::kPods, {.ns = "ai", .name = "a"}).error(); });
  stop.request_stop();
  second.join();
  EXPECT_EQ(error->message, "GET " + pod_path("a") + ": the agent is stopping");
  let_go();
}

}  // namespace
}  // namespace railbed::agent
