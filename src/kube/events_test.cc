// SPDX-License-Identifier: Apache-2.0
#include "kube/events.h"

#include <thread>

#include <gtest/gtest.h>

#include "doc/json.h"
#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"

namespace railbed::kube {
namespace {

const Occurrence kRefused{
    EventType::kWarning, "VfRefused", "Attach", "no VF is free", {"v1", "Pod", {"ai", "p"}, "u1"}};
const EventSettings kSettings{.controller = "railbed.dev/agent", .instance = "node1"};

struct BookTest : testing::Test {
  EventBook book{kSettings};
  Instant now{std::chrono::hours(1)};
  WallTime wall{std::chrono::hours(24 * 365 * 56)};
  std::optional<EventBook::Send> after(milliseconds period, const Occurrence& what = kRefused) {
    now += period;
    wall += period;
    return book.take(what, wall, now);
  }
};

TEST_F(BookTest, AnEventSaysWhatTheApiAsksFor) {
  const auto send = after(milliseconds(0));
  ASSERT_TRUE(send);
  EXPECT_EQ(
      doc::to_json(send->body),
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"p.18822631fba80000","namespace":"ai"},)"
      R"("eventTime":"2025-12-18T00:00:00.000000Z","reportingController":"railbed.dev/agent",)"
      R"("reportingInstance":"node1","reason":"VfRefused","action":"Attach","type":"Warning","note":"no VF is free",)"
      R"("regarding":{"apiVersion":"v1","kind":"Pod","namespace":"ai","name":"p","uid":"u1"}})");
}

TEST_F(BookTest, RepeatsAreASeriesAndCostLittle) {
  using Type = EventBook::Send::Type;
  const auto first = after(milliseconds(0));
  const auto second = after(std::chrono::seconds(1));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->type, Type::kUpdateSeries);
  EXPECT_EQ(second->key, first->key);
  EXPECT_EQ(doc::to_json(second->body), R"({"series":{"count":2,"lastObservedTime":"2025-12-18T00:00:01.000000Z"}})");
  int sent = 0;
  for (int i = 0; i < 60; ++i) sent += after(std::chrono::seconds(1)).has_value();
  EXPECT_EQ(sent, 2) << "one in 30 s";
  EXPECT_TRUE(book.due(now).empty());
  after(std::chrono::seconds(1));
  const auto due = book.due(now + std::chrono::seconds(30));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(*due[0].body.find("series")->find("count"), doc::Value(63));
  EXPECT_TRUE(book.due(now + std::chrono::seconds(60)).empty()) << "nothing new";
  EXPECT_EQ(after(std::chrono::seconds(400))->type, Type::kCreate) << "the series has ended";
}

TEST_F(BookTest, AnotherNoteIsTheSameAnotherObjectIsNot) {
  EXPECT_TRUE(after(milliseconds(0)));
  Occurrence other = kRefused;
  other.note = "another text";
  EXPECT_EQ(after(milliseconds(1), other)->type, EventBook::Send::Type::kUpdateSeries);
  other.object.key.name = "q";
  EXPECT_EQ(after(milliseconds(1), other)->type, EventBook::Send::Type::kCreate);
}

// An API server refuses a second Event of one name.
TEST_F(BookTest, TwoReasonsAtOneTimeHaveTwoNames) {
  Occurrence other = kRefused;
  other.reason = "VfLost";
  const auto first = after(milliseconds(0));
  const auto second = after(milliseconds(0), other);
  ASSERT_TRUE(first && second);
  EXPECT_NE(second->key.name, first->key.name);
  EXPECT_NE(after(milliseconds(1))->key, second->key);
}

TEST_F(BookTest, RemembersAtMostSoMany) {
  EventBook small({.controller = "c", .series = 2});
  Occurrence what = kRefused;
  for (const char* name : {"a", "b", "c"}) {
    what.object.key.name = name;
    EXPECT_EQ(small.take(what, wall, now)->type, EventBook::Send::Type::kCreate);
  }
  what.object.key.name = "a";
  EXPECT_EQ(small.take(what, wall, now)->type, EventBook::Send::Type::kCreate) << "forgotten";
  what.object.key.name = "c";
  EXPECT_EQ(small.take(what, wall, now)->type, EventBook::Send::Type::kUpdateSeries);
  // Those that are forgotten leave room: however many come, no more are kept.
  for (int i = 0; i < 100; ++i) {
    what.object.key.name = fmt::format("n{}", i);
    for (int times = 0; times < 3; ++times) (void)small.take(what, wall, now);
  }
  EXPECT_EQ(small.due(now + std::chrono::hours(1)).size(), 2u);
}

TEST_F(BookTest, LongTextsAreCutBetweenCharacters) {
  Occurrence what = kRefused;
  what.note = std::string(1023, 'x') + "é and more";
  what.object.key = {"", std::string(250, 'n')};
  const auto send = after(milliseconds(0), what);
  EXPECT_EQ(send->body.find("note")->as_string()->size(), 1023u);
  EXPECT_LE(send->key.name.size(), 253u);
  EXPECT_EQ(send->key.ns, "default") << "of an object of the cluster";
}

TEST(EventRecorder, NeverBlocksAndCountsWhatItDrops) {
  fake::ApiServer server;
  const std::unique_ptr<Clock> clock = real_clock();
  Client client(server, *clock);
  EventRecorder recorder(client, {.controller = "c", .instance = "i", .queue = 3});
  Occurrence what = kRefused;
  for (int i = 0; i < 5; ++i) {
    what.object.key.name = fmt::format("p{}", i);
    recorder.record(what);
  }
  what.object.key.name = "p0";
  EXPECT_EQ(recorder.counters().dropped, 2u);
  std::jthread thread([&](std::stop_token stop) { recorder.run(stop); });
  ASSERT_TRUE(recorder.flush(std::chrono::seconds(10)));
  recorder.record(what);
  ASSERT_TRUE(recorder.flush(std::chrono::seconds(10)));
  const EventCounters counters = recorder.counters();
  EXPECT_EQ(counters.recorded, 6u);
  EXPECT_EQ(counters.sent, 4u);
  EXPECT_EQ(counters.repeated, 1u);
  EXPECT_EQ(server.objects().size(), 3u);
}

TEST(EventRecorder, AnEventThatTheServerForgotIsMadeAgain) {
  fake::ApiServer server;
  const std::unique_ptr<Clock> clock = real_clock();
  Client client(server, *clock);
  EventRecorder recorder(client, kSettings);
  std::jthread thread([&](std::stop_token stop) { recorder.run(stop); });
  const auto report = [&] {
    recorder.record(kRefused);
    return recorder.flush(std::chrono::seconds(10));
  };
  ASSERT_TRUE(report());
  server.erase(server.objects().begin()->first);
  ASSERT_TRUE(report());  // this one finds out
  ASSERT_TRUE(report());
  EXPECT_EQ(server.objects().size(), 1u);
  EXPECT_EQ(recorder.counters().failed, 1u);
}

}  // namespace
}  // namespace railbed::kube
