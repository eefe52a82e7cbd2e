// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <gtest/gtest.h>

#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"

namespace railbed::kube {
namespace {

using fake::kMaps;
using fake::object;

struct ClientTest : testing::Test {
  fake::ApiServer server;
  fake::FakeClock clock;
  Client client{server, clock, {.page = 3}};

  // The server refuses the next `count` requests with `error`.
  void refuse(int count, const ApiError& error) {
    server.before = [count, error](const Request&) mutable -> std::optional<ApiError> {
      if (count-- <= 0) return std::nullopt;
      return error;
    };
  }
};

TEST_F(ClientTest, ReadsAndChangesObjects) {
  auto made = client.create(kMaps, object("ConfigMap", "ai", "a"));
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(client.create(kMaps, object("ConfigMap", "ai", "a")).error().reason, "AlreadyExists");
  made->set("data", doc::Value::object());
  const auto updated = client.update(kMaps, *made);
  ASSERT_TRUE(updated) << updated.error().to_string();
  EXPECT_EQ(client.update(kMaps, *made).error().code, Code::kConflict) << "an old resourceVersion";
  EXPECT_EQ(client.get(kMaps, {"ai", "a"}).value(), *updated);
  doc::Value patch;
  patch.set("data", doc::Value::Object{{"k", {}, doc::Value("v")}});
  EXPECT_EQ(*client.patch(kMaps, {"ai", "a"}, PatchType::kMerge, patch)->find("data"), *patch.find("data"));
  EXPECT_EQ(client.remove(kMaps, {"ai", "a"}, {.uid = "another"}).error().code, Code::kConflict);
  EXPECT_EQ(client.remove(kMaps, {"ai", "a"}, {.uid = uid_of(*made), .resource_version = "1"}).error().code,
            Code::kConflict);
  EXPECT_TRUE(client.remove(kMaps, {"ai", "a"}, {.uid = uid_of(*made)}));
  EXPECT_EQ(client.get(kMaps, {"ai", "a"}).error().code, Code::kNotFound);
  EXPECT_EQ(client.counters().requests.at({Verb::kCreate, 201}), 1u);
  EXPECT_EQ(client.counters().requests.at({Verb::kCreate, 409}), 1u);
}

TEST_F(ClientTest, AnUpdateNeedsAResourceVersion) {
  EXPECT_EQ(client.update(kMaps, object("ConfigMap", "ai", "a")).error().message,
            "ConfigMap ai/a has no resourceVersion: an update would revert changes of other clients");
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(ClientTest, ListsInPagesWithKinds) {
  for (int i = 0; i < 8; ++i)
    server.put(fmt::format("/api/v1/namespaces/ai/configmaps/m{}", i),
               object("ConfigMap", "ai", fmt::format("m{}", i)));
  server.put("/api/v1/namespaces/b/configmaps/x", object("ConfigMap", "b", "x"));
  const auto in_one = client.list(kMaps, {.ns = "ai"});
  ASSERT_TRUE(in_one) << in_one.error().to_string();
  EXPECT_EQ(in_one->objects.size(), 8u);
  EXPECT_EQ(describe(in_one->objects[7]), "ConfigMap ai/m7");
  EXPECT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(client.list(kMaps, {})->objects.size(), 9u);
}

TEST_F(ClientTest, CountsWithoutReadingThemAll) {
  EXPECT_EQ(client.count(kMaps).value(), 0U);
  for (const char* name : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(client.create(kMaps, object("ConfigMap", "ai", name)));
  const size_t before = server.requests().size();
  EXPECT_EQ(client.count(kMaps).value(), 5U);
  EXPECT_EQ(server.requests().size(), before + 1);
}

TEST_F(ClientTest, AListWhoseTokenExpiresBeginsAgainAndEndsInOneAnswer) {
  for (int i = 0; i < 8; ++i)
    server.put(fmt::format("/api/v1/namespaces/ai/configmaps/m{}", i),
               object("ConfigMap", "ai", fmt::format("m{}", i)));
  server.before = [&](const Request& request) -> std::optional<ApiError> {
    if (request.target.find("continue") != std::string::npos) server.compact();
    return std::nullopt;
  };
  const auto all = client.list(kMaps, {.ns = "ai"});
  ASSERT_TRUE(all) << all.error().to_string();
  EXPECT_EQ(all->objects.size(), 8u);
  EXPECT_EQ(server.requests().back(), "GET /api/v1/namespaces/ai/configmaps?limit=0");
}

// "m0 m1 …": what a visit has seen, as long as there are no more than `most`.
std::string visited(Client& client, size_t most = 100, const std::function<void(const std::string&)>& seen = {}) {
  std::string out;
  const auto done = client.visit(kMaps, {.ns = "ai"}, trim_metadata, [&](doc::Value object) {
    EXPECT_TRUE(describe(object).starts_with("ConfigMap ai/")) << describe(object);
    if (seen) seen(key_of(object).name);
    out += key_of(object).name + " ";
    return --most > 0 ? Visit::kGoOn : Visit::kEnough;
  });
  return done ? out : out + done.error().to_string();
}

TEST_F(ClientTest, VisitsAPageAfterTheOther) {
  for (int i = 0; i < 8; ++i)
    server.put(fmt::format("/api/v1/namespaces/ai/configmaps/m{}", i),
               object("ConfigMap", "ai", fmt::format("m{}", i)));
  std::string pages;
  EXPECT_EQ(visited(client, 100, [&](const std::string&) { pages += std::to_string(server.requests().size()); }),
            "m0 m1 m2 m3 m4 m5 m6 m7 ");
  EXPECT_EQ(pages, "11122233") << "the next page is asked for when the one before was gone through";
  EXPECT_EQ(visited(client, 2), "m0 m1 ");
  EXPECT_EQ(server.requests().size(), 4U) << "no further page";
}

TEST_F(ClientTest, AVisitWhoseTokenExpiresGoesOnInTheNewestState) {
  for (int i = 0; i < 8; ++i)
    server.put(fmt::format("/api/v1/namespaces/ai/configmaps/m{}", i),
               object("ConfigMap", "ai", fmt::format("m{}", i)));
  const auto others = [&](const std::string& name) {
    if (name == "m1") server.put("/api/v1/namespaces/ai/configmaps/m0a", object("ConfigMap", "ai", "m0a"));
    if (name == "m2") server.put("/api/v1/namespaces/ai/configmaps/m9", object("ConfigMap", "ai", "m9"));
    if (name == "m2") server.erase("/api/v1/namespaces/ai/configmaps/m4");
    server.compact();
  };
  EXPECT_EQ(visited(client, 100, others), "m0 m1 m2 m3 m5 m6 m7 m9 ") << "none twice, none is missing";
}

TEST_F(ClientTest, AVisitThatCannotGoOnSaysSo) {
  for (int i = 0; i < 8; ++i)
    server.put(fmt::format("/api/v1/namespaces/ai/configmaps/m{}", i),
               object("ConfigMap", "ai", fmt::format("m{}", i)));
  server.before = [](const Request& request) -> std::optional<ApiError> {
    if (request.target.find("continue") == std::string::npos) return std::nullopt;
    return refused("GET /x", 410, "");  // a proxy's, which has no token
  };
  EXPECT_EQ(visited(client), "m0 m1 m2 GET /x: 410");
}

TEST_F(ClientTest, EvictsOnlyThePodThatWasSeenAndRepeatsNoRefusal) {
  const std::string path = "/api/v1/namespaces/ai/pods/a";
  server.put(path, object("Pod", "ai", "a"));
  const std::string uid = uid_of(server.objects().at(path));
  EXPECT_EQ(client.evict({"ai", "b"}, uid).error().status, 404);
  EXPECT_EQ(client.evict({"ai", "a"}, "another").error().status, 409);
  server.budget = [](const std::string&) {
    return "The disruption budget web needs 2 healthy pods and has 1 currently";
  };
  const Answer<void> refused = client.evict({"ai", "a"}, uid);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 429);
  EXPECT_EQ(refused.error().causes,
            (std::vector<RefusalCause>{{"DisruptionBudget",
                                        "The disruption budget web needs 2 healthy pods and has "
                                        "1 currently"}}));
  EXPECT_FALSE(is_being_deleted(server.objects().at(path)));
  server.budget = nullptr;
  EXPECT_TRUE(client.evict({"ai", "a"}, uid));
  EXPECT_TRUE(is_being_deleted(server.objects().at(path)));
  EXPECT_EQ(server.requests().size(), 4u) << "no refusal was repeated";
  EXPECT_EQ(client.evict({"ai", "../x"}, uid).error().code, Code::kInvalid);
}

TEST_F(ClientTest, WaitsAsLongAsTheServerAsks) {
  server.put("/api/v1/namespaces/ai/configmaps/a", object("ConfigMap", "ai", "a"));
  ApiError busy = refused("x", 429, "");
  busy.retry_after = std::chrono::seconds(4);
  refuse(2, busy);
  EXPECT_TRUE(client.create(kMaps, object("ConfigMap", "ai", "b"))) << "429 is repeated even for a create";
  ASSERT_EQ(clock.waits().size(), 2u);
  EXPECT_GE(clock.waits()[0], std::chrono::seconds(4));
  EXPECT_EQ(client.counters().retries, 2u);
}

TEST_F(ClientTest, ACallEndsByItsDeadline) {
  ApiError busy = refused("GET /x", 429, "");
  busy.retry_after = std::chrono::seconds(12);
  refuse(100, busy);
  const Instant began = clock.now();
  const auto got = client.get(kMaps, {"ai", "a"});
  EXPECT_EQ(got.error().to_string(), "gave up after 3 attempts: GET /x: 429");
  EXPECT_LE(clock.now() - began, std::chrono::seconds(30));
}

TEST_F(ClientTest, ACreateWhoseAnswerIsLostIsNotRepeated) {
  server.lose_answer = [](const Request& request) { return request.method == Method::kPost; };
  EXPECT_EQ(client.create(kMaps, object("ConfigMap", "ai", "a")).error().delivery, Delivery::kUnknown);
  EXPECT_EQ(server.requests().size(), 1u);
  refuse(1, unanswered(Code::kIo, Delivery::kNotSent, "connection refused"));
  EXPECT_EQ(client.create(kMaps, object("ConfigMap", "ai", "b")).error().delivery, Delivery::kUnknown)
      << "repeated once";
}

TEST_F(ClientTest, ADeleteWhoseAnswerIsLostIsRepeatedOnlyForTheSameObject) {
  const auto made = client.create(kMaps, object("ConfigMap", "ai", "a"));
  int lost = 1;
  server.lose_answer = [&](const Request& request) { return request.method == Method::kDelete && lost-- > 0; };
  EXPECT_EQ(client.remove(kMaps, {"ai", "a"}).error().delivery, Delivery::kUnknown)
      << "a new object of that name may be there by now";
  const auto again = client.create(kMaps, object("ConfigMap", "ai", "a"));
  lost = 1;
  EXPECT_EQ(client.remove(kMaps, {"ai", "a"}, {.uid = uid_of(*again)}).error().code, Code::kNotFound) << "it was done";
}

TEST_F(ClientTest, IsStoppedWhileItWaits) {
  std::stop_source stop;
  server.before = [&](const Request&) -> std::optional<ApiError> {
    stop.request_stop();
    return refused("x", 503, "");
  };
  EXPECT_EQ(client.get(kMaps, {"ai", "a"}, stop.get_token()).error().code, Code::kCanceled);
}

TEST_F(ClientTest, StatusIsAPartOfItsOwn) {
  auto made = client.create(kMaps, object("ConfigMap", "ai", "a"));
  made->set("spec", "changed");
  made->set("status", "done");
  const auto updated = client.update(kMaps, *made, Part::kStatus);
  ASSERT_TRUE(updated) << updated.error().to_string();
  EXPECT_EQ(updated->find("spec"), nullptr);
  EXPECT_EQ(*updated->find("status"), doc::Value("done"));
}

TEST_F(ClientTest, AppliesWithItsNameAndForce) {
  ASSERT_TRUE(client.apply(kMaps, object("ConfigMap", "ai", "a"),
                           {.manager = "rail bed", .conflicts = ApplyOptions::Conflicts::kTakeOver}));
  EXPECT_EQ(server.requests().back(), "PATCH /api/v1/namespaces/ai/configmaps/a?fieldManager=rail%20bed&force=true");
}

// A server whose pages have no end.
TEST(ClientLists, ThatAreTooLargeAreRefused) {
  fake::ApiServer server;
  fake::FakeClock clock;
  for (int i = 0; i < 5; ++i)
    server.put(fmt::format("/api/v1/namespaces/ai/configmaps/m{}", i),
               fake::object("ConfigMap", "ai", fmt::format("m{}", i)));
  const auto listed = [&](size_t most) {
    ReadBounds bounds;
    bounds.list.objects = most;
    return Client(server, clock, {.page = 2, .bounds = bounds}).list(fake::kMaps, {});
  };
  EXPECT_EQ(listed(5)->objects.size(), 5U);
  const auto refused_list = listed(4);
  ASSERT_FALSE(refused_list);
  EXPECT_EQ(refused_list.error().code, Code::kExhausted);
  EXPECT_EQ(
      refused_list.error().message,
      "GET /api/v1/configmaps: the list is too large: more than 4 objects; delete unneeded objects of this kind, or "
      "check the API server and any proxy in front of it");
}

}  // namespace
}  // namespace railbed::kube
