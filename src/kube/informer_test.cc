// SPDX-License-Identifier: Apache-2.0
#include "kube/informer.h"

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"

namespace railbed::kube {
namespace {

using fake::kMaps;
using fake::object;

std::string path_of(const std::string& name) {
  return "/api/v1/namespaces/ai/configmaps/" + name;
}
void put(fake::ApiServer& server, const std::string& name, int value = 0) {
  doc::Value map = object("ConfigMap", "ai", name);
  map.set("data", value);
  server.put(path_of(name), std::move(map));
}

// Name, uid and version of everything: what a cache and a server can be compared by.
template <typename T>
std::vector<std::string> summary(const T& objects) {
  std::vector<std::string> out;
  for (const auto& [key, object] : objects) {
    const doc::Value* value = nullptr;
    if constexpr (std::is_same_v<std::decay_t<decltype(object)>, doc::Value>)
      value = &object;
    else
      value = object.get();
    out.push_back(fmt::format("{} {} {}", key_of(*value).name, uid_of(*value), resource_version(*value)));
  }
  return out;
}

// What an observer knows from changes alone; every change must fit to the ones before.
struct Story {
  Objects known;
  std::vector<std::string> seen;
  std::string broken;

  void operator()(const Change& change) {
    const ObjectPtr before = known.contains(change.key) ? known[change.key] : nullptr;
    if (before != change.before) broken = "the change of " + change.key.name + " does not follow the one before";
    seen.push_back(fmt::format("{}{}", "+~-"[static_cast<int>(change.type)], change.key.name));
    if (change.after == nullptr)
      known.erase(change.key);
    else
      known[change.key] = change.after;
  }
};

struct InformerTest : testing::Test {
  fake::ApiServer server;
  fake::FakeClock clock;
  Client client{server, clock, {.page = 2}};
  Story story;
  std::stop_source stop;
  Informer informer{client, {.resource = kMaps}, [this](const Change& change) { story(change); }};

  // Runs the informer in this thread; whenever a stream has nothing more to send, the next step is done.
  void run(const std::vector<std::function<fake::ApiServer::Idle()>>& steps) {
    size_t next = 0;
    server.on_idle = [&, next]() mutable {
      if (next < steps.size()) return steps[next++]();
      stop.request_stop();
      return fake::ApiServer::Idle::kAgain;
    };
    informer.run(stop.get_token());
  }
};

using Idle = fake::ApiServer::Idle;

TEST_F(InformerTest, ListsThenFollows) {
  for (const char* name : {"a", "b", "c"}) put(server, name);
  run({[&] {
    put(server, "b", 1);
    server.erase(path_of("c"));
    put(server, "d");
    return Idle::kAgain;
  }});
  EXPECT_EQ(story.seen, (std::vector<std::string>{"+a", "+b", "+c", "~b", "-c", "+d"}));
  EXPECT_EQ(summary(informer.objects()), summary(server.objects()));
  EXPECT_TRUE(informer.health().synced);
  EXPECT_EQ(informer.health().objects, 3u);
  EXPECT_NE(informer.find({"ai", "d"}), nullptr);
  EXPECT_EQ(informer.find({"ai", "c"}), nullptr);
}

TEST_F(InformerTest, ResumesWhereItWasCut) {
  put(server, "a");
  run({[&] {
         put(server, "b");
         return Idle::kAgain;
       },
       [&] { return Idle::kCut; },
       [&] {
         put(server, "c");
         return Idle::kEnd;
       },
       [] { return Idle::kAgain; }});
  EXPECT_EQ(informer.health().lists, 1u) << "a cut is no reason to list again";
  EXPECT_EQ(informer.health().watches, 3u);
  EXPECT_EQ(summary(informer.objects()), summary(server.objects()));
}

TEST_F(InformerTest, DifferencesAreReportedAfterAGap) {
  for (const char* name : {"a", "b", "c", "e"}) put(server, name);
  bool gap = false;
  server.before = [&](const Request& request) -> std::optional<ApiError> {
    // Between the first list and its watch the world changes and the server forgets.
    if (gap || request.target.find("watch=true") == std::string::npos) return std::nullopt;
    gap = true;
    put(server, "a", 1);
    server.erase(path_of("b"));
    server.erase(path_of("c"));
    put(server, "c");
    put(server, "d");
    server.compact();
    return std::nullopt;
  };
  run({});
  EXPECT_EQ(story.seen, (std::vector<std::string>{"+a", "+b", "+c", "+e", "-b", "~a", "-c", "+c", "+d"}));
  EXPECT_EQ(informer.health().lists, 2u);
  EXPECT_EQ(summary(informer.objects()), summary(server.objects()));
}

TEST_F(InformerTest, WhatAnEarlierProcessKnewIsThereAndReportedWhereItChanged) {
  for (const char* name : {"a", "b", "c"}) put(server, name);
  std::vector<doc::Value> known;
  for (const auto& [path, object] : server.objects()) known.push_back(object);
  informer.seed(known);
  EXPECT_EQ(informer.health().objects, 3u);
  EXPECT_FALSE(informer.health().synced);
  EXPECT_TRUE(story.seen.empty());
  put(server, "a", 1);
  server.erase(path_of("b"));
  put(server, "d");
  for (const auto& object : known) story.known[key_of(object)] = informer.find(key_of(object));
  run({});
  EXPECT_EQ(story.seen, (std::vector<std::string>{"-b", "~a", "+d"}));
  EXPECT_EQ(story.broken, "");
  EXPECT_EQ(informer.health().changes, 3u);
  EXPECT_EQ(summary(informer.objects()), summary(server.objects()));
}

TEST_F(InformerTest, BookmarksMoveTheVersion) {
  put(server, "a");
  run({[&] {
         server.put("/api/v1/namespaces/ai/secrets/x", object("Secret", "ai", "x"));
         server.bookmark();
         return Idle::kAgain;
       },
       [&] {
         server.compact();
         return Idle::kAgain;
       }});
  EXPECT_EQ(informer.health().resource_version, "3");
}

TEST_F(InformerTest, TheServerMayBeAwayForHours) {
  put(server, "a");
  int refusals = 40;
  server.before = [&](const Request& request) -> std::optional<ApiError> {
    if (request.target.find("watch=true") == std::string::npos || refusals-- <= 0) return std::nullopt;
    if (refusals == 20) put(server, "b");
    EXPECT_TRUE(informer.health().synced);
    EXPECT_EQ(informer.health().objects, 1u) << "what is known stays known";
    return unanswered(Code::kIo, Delivery::kNotSent, "connection refused");
  };
  run({});
  EXPECT_EQ(informer.health().error, std::nullopt);
  EXPECT_EQ(informer.health().lists, 1u) << "a server that was away is no reason to list again";
  EXPECT_EQ(summary(informer.objects()), summary(server.objects()));
  EXPECT_LE(clock.waits()[0], milliseconds(500));
  EXPECT_EQ(std::ranges::max(clock.waits()), milliseconds(22500)) << "three quarters of 30 s";
}

// It has forgotten the version meanwhile, and its roles are not read yet: neither waits for half a minute.
TEST_F(InformerTest, AServerThatIsBackIsNotLeftAloneForAsLongAsItWasAway) {
  put(server, "a");
  int watches = 0;
  server.before = [&](const Request& request) -> std::optional<ApiError> {
    if (request.target.find("watch=true") == std::string::npos) return std::nullopt;
    ++watches;
    if (watches <= 80) return unanswered(Code::kIo, Delivery::kNotSent, "connection refused");
    if (watches == 81) return refused("x", 403, "");
    if (watches == 82) return refused("x", 410, "");
    return std::nullopt;
  };
  run({});
  EXPECT_EQ(informer.health().lists, 2u);
  const std::vector<milliseconds> waits = clock.waits();
  ASSERT_GT(waits.size(), 2u);
  EXPECT_EQ(std::ranges::max(waits), milliseconds(22500)) << "while it was away";
  EXPECT_EQ(waits[waits.size() - 2], milliseconds(375)) << "after the first refusal";
  EXPECT_EQ(waits[waits.size() - 1], milliseconds(750));
}

TEST_F(InformerTest, SaysWhyItIsNotFed) {
  server.before = [&](const Request&) -> std::optional<ApiError> {
    if (clock.waits().size() > 3) stop.request_stop();
    return refused("GET /api/v1/configmaps", 403, "");
  };
  run({});
  EXPECT_FALSE(informer.health().synced);
  EXPECT_EQ(informer.health().error->message, "GET /api/v1/configmaps: 403");
  EXPECT_FALSE(informer.wait_synced(milliseconds(1), {}));
}

// The definition of a kind is deleted and installed again: events of the time between are none of any watch.
TEST_F(InformerTest, AKindThatIsNotServedIsListedUntilItIs) {
  for (const char* name : {"a", "b"}) put(server, name);
  int refused_lists = 0;
  server.before = [&](const Request& request) -> std::optional<ApiError> {
    const bool is_list = request.target.find("watch=true") == std::string::npos;
    if (is_list && informer.health().error && ++refused_lists == 3) {
      server.erase(path_of("a"));
      put(server, "c");
      server.serve(kMaps, fake::ApiServer::Served::kYes);
    }
    return std::nullopt;
  };
  run({[&] {
    server.serve(kMaps, fake::ApiServer::Served::kNo);
    return Idle::kAgain;
  }});
  EXPECT_EQ(refused_lists, 3);
  EXPECT_EQ(story.seen, (std::vector<std::string>{"+a", "+b", "-a", "+c"}));
  EXPECT_EQ(summary(informer.objects()), summary(server.objects()));
  EXPECT_EQ(informer.health().error, std::nullopt);
  EXPECT_EQ(informer.health().lists, 2u);
}

TEST_F(InformerTest, IsStoppedAtOnceWhileAStreamIsSilent) {
  put(server, "a");
  std::jthread thread([&](std::stop_token token) { informer.run(token); });
  ASSERT_TRUE(informer.wait_synced(std::chrono::seconds(60), {}));
  while (informer.health().watches == 0) std::this_thread::yield();
  thread.request_stop();
  thread.join();  // nothing comes, and the stream has no end of its own
  EXPECT_EQ(informer.health().watches, 1u);
  EXPECT_EQ(clock.waits(), std::vector<milliseconds>{}) << "no wait was begun after the stop";
}

TEST_F(InformerTest, AnErrorEventOrGarbageIsListedAgain) {
  put(server, "a");
  run({[&] {
         server.fail_streams(500, "InternalError");
         return Idle::kAgain;
       },
       [&] {
         put(server, "b");
         server.garble_streams();
         return Idle::kAgain;
       }});
  EXPECT_EQ(informer.health().lists, 3u);
  EXPECT_EQ(summary(informer.objects()), summary(server.objects()));
}

// Any interleaving of changes, cuts in the bytes, ended and cut streams, 410s, errors and lost answers: once the server
// is left alone, cache and observer are equal to it.
void follow_everything(const std::vector<uint8_t>& steps, const std::vector<uint8_t>& pieces,
                       const std::vector<uint8_t>& refusals) {
  fake::ApiServer server;
  fake::FakeClock clock;
  Client client(server, clock, {.page = 2});
  Story story;
  std::stop_source stop;
  Informer informer(client, {.resource = kMaps}, [&](const Change& change) { story(change); });
  size_t step = 0;
  size_t piece = 0;
  size_t request = 0;
  const auto change = [&](uint8_t what) {
    const std::string name(1, static_cast<char>('a' + what % 5));
    if (what % 3 == 0)
      server.erase(path_of(name));
    else
      put(server, name, what);
  };
  if (!pieces.empty()) server.piece = [&] { return size_t{1} + pieces[piece++ % pieces.size()]; };
  server.before = [&](const Request&) -> std::optional<ApiError> {
    const uint8_t what = request < refusals.size() ? refusals[request] : 255;
    ++request;
    if (what < 40) change(what);
    if (what % 16 == 1) server.compact();
    if (what % 16 == 2) return refused("x", 410, "");
    if (what % 16 == 3) return refused("x", 503, "");
    if (what % 16 == 4) return unanswered(Code::kIo, Delivery::kUnknown, "cut");
    return std::nullopt;
  };
  server.on_idle = [&] {
    if (step >= steps.size()) {
      stop.request_stop();
      return Idle::kAgain;
    }
    const uint8_t what = steps[step++];
    change(what);
    if (what % 11 == 1) server.compact();
    if (what % 11 == 2) server.bookmark();
    if (what % 13 == 3) server.fail_streams(what % 2 == 0 ? 410 : 500, "x");
    if (what % 17 == 4) server.garble_streams();
    if (what % 7 == 5) return Idle::kCut;
    if (what % 7 == 6) return Idle::kEnd;
    return what % 19 == 0 ? Idle::kSilence : Idle::kAgain;
  };
  informer.run(stop.get_token());
  RC_ASSERT(story.broken == "");
  RC_ASSERT(summary(informer.objects()) == summary(server.objects()));
  RC_ASSERT(summary(story.known) == summary(server.objects()));
}

TEST(InformerProperty, EqualsTheServerAfterAnyTrouble) {
  EXPECT_TRUE(rc::check(follow_everything));
}

}  // namespace
}  // namespace railbed::kube
