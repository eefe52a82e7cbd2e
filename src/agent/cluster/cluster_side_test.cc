// SPDX-License-Identifier: Apache-2.0
// The whole side with its threads over an API server in memory: starts, restarts, health, metrics, Events, its end.
#include "agent/cluster/cluster_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/cluster/test_cluster.h"
#include "doc/json.h"
#include "doc/members.h"
#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ClusterSideTest : testing::Test {
  Switch api;
  kube::fake::ApiServer server;
  std::unique_ptr<kube::Clock> clock = kube::real_clock();
  kube::Client client{
      server, *clock, {.timeout = milliseconds(300), .try_timeout = milliseconds(300), .retry = {.tries = 1}}};
  os::FakeDisk disk;
  std::unique_ptr<state::Store> store = state::memory_store();
  Events events;
  os::FakeKernel kernel;
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  DurableRecords records{disk, kDurableRecords, "boot-1"};
  Engine engine{kernel, *store, *blocks, records};
  seconds denied_patience{60};

  void SetUp() override {
    server.before = [this](const kube::Request&) { return api(); };
  }
  void TearDown() override { EXPECT_EQ(beyond_the_role(server), ""); }
  std::unique_ptr<ClusterSide> start() { return start(client, milliseconds(5)); }
  std::unique_ptr<ClusterSide> start(kube::Client& over, milliseconds keep_period) {
    auto side = std::make_unique<ClusterSide>(
        ClusterSide::Dependencies{over, server, disk, *store, events},
        ClusterSide::Settings{
            .node = "node1",
            .server = "https://10.0.0.1:6443",
            .folder = "/var/lib/railbed/cache",
            .asking = {.timeout = milliseconds(300), .try_timeout = milliseconds(300), .retry = {.tries = 1}},
            .asks = {.at_once = 4, .wait = milliseconds(500)},
            .statuses = {.first_pause = milliseconds(1), .longest_pause = milliseconds(4)},
            .longest_pause = milliseconds(5),
            .save_pause = milliseconds(0),
            .keep_period = keep_period,
            .denied_patience = denied_patience});
    side->restore();
    side->start(engine);
    return side;
  }
  static double value_of(const std::vector<Sample>& samples, const std::string& name, const std::string& label = "") {
    for (const Sample& one : samples)
      if (one.name == name && (label.empty() || (!one.labels.empty() && one.labels.front().second == label)))
        return one.value;
    return -99;
  }
};

TEST_F(ClusterSideTest, IsReadyOnceItKnowsPodsAndNetworks) {
  server.put(pod_path("a"), pod_object("a"));
  auto side = start();
  ASSERT_TRUE(eventually([&] { return side->not_ready().empty(); }));
  EXPECT_TRUE(side->source().pod("ai", "a", "").has_value());
  EXPECT_EQ(count_of(server, "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dnode1&limit="), 1u);
  const std::vector<Sample> now = side->samples();
  EXPECT_EQ(value_of(now, "railbed_cache_objects", "pods"), 1);
  EXPECT_EQ(value_of(now, "railbed_cache_synced", "network-attachment-definitions"), 1);
  EXPECT_EQ(value_of(now, "railbed_api_requests_total", "list"), 2);
  EXPECT_EQ(value_of(now, "railbed_status_pending"), 0);
  Metrics metrics;
  metrics.samples([&] { return side->samples(); });
  EXPECT_THAT(metrics.text(), HasSubstr("railbed_cache_objects{kind=\"pods\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("# TYPE railbed_api_requests_total counter"));
  EXPECT_THAT(without_ages(doc::to_json(side->report())),
              HasSubstr(R"({"kind":"pods","objects":1,"synced":true,"ageSeconds":N)"));
}

TEST_F(ClusterSideTest, TheFirstAddWaitsForTheFirstListAndNotForEver) {
  server.put(pod_path("a"), pod_object("a"));
  auto side = start();
  side->wait_known(std::chrono::minutes(10));
  EXPECT_THAT(side->not_ready(), IsEmpty());
  side.reset();
  disk.put("/var/lib/railbed/cache/pods.json", "damaged");
  api.away = true;
  kube::fake::FakeClock stepped(kube::fake::FakeClock::Goes::kOnAdvance);
  kube::Client slow(server, stepped, {.retry = {.tries = 1}});
  const auto again = start(slow, hours(2));
  std::atomic<bool> waited = false;
  const std::jthread add([&] {
    again->wait_known(seconds(30));
    waited = true;
  });
  EXPECT_TRUE(waits_for(stepped, seconds(30)));
  EXPECT_FALSE(waited);
  stepped.advance(seconds(30));
  EXPECT_TRUE(eventually([&] { return waited.load(); }));
  EXPECT_EQ(again->not_ready().size(), 1u) << "the other file is whole";
  stepped.advance(hours(1));  // longer waits are ended
}

TEST_F(ClusterSideTest, SaysWhyItIsNotReady) {
  api.away = true;
  auto side = start();
  ASSERT_TRUE(eventually([&] { return events.all().size() == 2; }));
  EXPECT_THAT(side->not_ready(),
              ElementsAre("pods of the API server are not known: connection refused",
                          "network-attachment-definitions of the API server are not known: connection refused"));
  EXPECT_EQ(events.all().front().kind, "api-server");
  EXPECT_EQ(events.all().front().last_error, "connection refused");
  EXPECT_EQ(value_of(side->samples(), "railbed_cache_age_seconds", "pods"), -1);
  api.away = false;
  EXPECT_TRUE(eventually([&] { return side->not_ready().empty() && events.all().empty(); })) << "no trouble any more";
}

TEST_F(ClusterSideTest, ARestartWhileTheServerIsAwayIsReadyFromTheFiles) {
  server.put(pod_path("a"), pod_object("a"));
  auto side = start();
  ASSERT_TRUE(eventually([&] { return side->not_ready().empty(); }));
  side.reset();
  EXPECT_EQ(disk.files().size(), 2u) << "written at the end at the latest";
  api.away = true;
  side = start();
  EXPECT_THAT(side->not_ready(), IsEmpty());
  EXPECT_TRUE(side->source().pod("ai", "a", "").has_value());
  EXPECT_THAT(without_ages(doc::to_json(side->report())),
              HasSubstr(R"("synced":false,"ageSeconds":N,"fromFile":true)"));
}

// What was known is not taken for what is forever: a right that was withdrawn is reported by the server's own words.
// An API server that starts refuses for a moment, and that must not make a node unready.
TEST_F(ClusterSideTest, ARightThatIsMissingIsNotReadyAfterAWhile) {
  auto side = start();
  ASSERT_TRUE(eventually([&] { return side->not_ready().empty(); }));
  side.reset();
  server.before = [](const kube::Request& request) {
    return std::optional(kube::refused("GET " + request.target.substr(0, 12), 403,
                                       R"({"kind":"Status","message":"pods is forbidden: User \"x\" cannot list"})"));
  };
  side = start();
  ASSERT_TRUE(eventually([&] { return events.all().size() == 2; }));
  EXPECT_THAT(side->not_ready(), IsEmpty());
  side.reset();
  denied_patience = seconds(-1);
  side = start();
  ASSERT_TRUE(eventually([&] { return side->not_ready().size() == 2; }));
  EXPECT_EQ(
      without_ages(side->not_ready().front()),
      "pods of the API server are without an answer for N s: GET /api/v1/pods: 403: pods is forbidden: User \"x\" "
      "cannot list");
}

TEST_F(ClusterSideTest, AClusterWithoutTheNetworksDefinitionIsReady) {
  server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.target.find("network-attachment-definitions") == std::string::npos) return std::nullopt;
    return kube::refused("GET x", 404, "");
  };
  auto side = start();
  EXPECT_TRUE(eventually([&] { return side->not_ready().empty(); }));
}

TEST_F(ClusterSideTest, AFullDiskIsReportedAndNothingElseSuffers) {
  disk.refuse(ENOSPC);
  server.put(pod_path("a"), pod_object("a"));
  auto side = start();
  ASSERT_TRUE(eventually([&] { return events.all().size() == 2; }));
  EXPECT_EQ(events.all().front().kind, "disk");
  EXPECT_TRUE(eventually([&] { return side->source().pod("ai", "a", "").has_value(); }));
  EXPECT_THAT(side->not_ready(), IsEmpty());
}

// An API server, or a user who may create pods, that fills the cache: what is known stays, and it is reported once.
TEST_F(ClusterSideTest, MorePodsThanFitAreOneTroubleAndThoseThatAreKnownStay) {
  kube::ReadBounds bounds = kube::kNodeBounds;
  bounds.list.objects = 2;
  kube::Client small(server, *clock, {.retry = {.tries = 1}, .bounds = bounds});
  server.put(pod_path("a"), pod_object("a"));
  auto side = start(small, milliseconds(5));
  ASSERT_TRUE(eventually([&] { return side->not_ready().empty(); }));
  for (const char* name : {"b", "c", "d"}) server.put(pod_path(name), pod_object(name));
  const std::string what_to_do =
      "; delete unneeded objects of this kind, or check the API server and any proxy in front of it";
  const auto reported = [&] { return events.all().empty() ? "" : events.all().front().last_error; };
  ASSERT_TRUE(eventually(
      [&] { return reported() == "GET /api/v1/pods: the list is too large: more than 2 objects" + what_to_do; }));
  const auto lists = [&] { return count_of(server, "GET /api/v1/pods?"); };
  const size_t before = lists();
  ASSERT_TRUE(eventually([&] { return lists() > before + 10; })) << "it is tried again";
  ASSERT_EQ(events.all().size(), 1u);
  EXPECT_LE(events.all().front().count, 2u) << "once for the watch, once for the list";
  EXPECT_TRUE(side->source().pod("ai", "a", "").has_value());
  EXPECT_EQ(value_of(side->samples(), "railbed_cache_objects", "pods"), 2);
  EXPECT_THAT(doc::to_json(side->report()), HasSubstr("the list is too large: more than 2 objects"));

  for (const char* name : {"c", "d"}) server.erase(pod_path(name));
  EXPECT_TRUE(eventually([&] {
    server.bookmark();
    return events.all().empty();
  })) << "no trouble any more, once a watch has lasted";
}

TEST_F(ClusterSideTest, AFailedAddBecomesOneEventAtThePod) {
  server.put(pod_path("a"), pod_object("a"));
  auto side = start();
  ASSERT_TRUE(eventually([&] { return side->not_ready().empty(); }));
  const cni::Request add{.command = cni::Command::kAdd,
                         .type = "railbed",
                         .args = {{"K8S_POD_NAMESPACE", "ai"}, {"K8S_POD_NAME", "a"}, {"K8S_POD_UID", "uid-1"}}};
  side->failed(add, cni::error_with(cni::kTryAgainLater, "busy"));
  for (int i = 0; i < 3; ++i) side->failed(add, cni::error_with(cni::kGone, "no network"));
  ASSERT_TRUE(eventually([&] { return value_of(side->samples(), "railbed_kube_events_total", "repeated") == 2; }));
  size_t count = 0;
  for (const auto& [path, object] : server.objects()) {
    if (!path.starts_with("/apis/events.k8s.io/v1/namespaces/ai/events/")) continue;
    ++count;
    EXPECT_EQ(doc::text_in(object, "reason"), "NetworkNotFound");
    EXPECT_EQ(doc::text_in(*object.find("regarding"), "uid"), "uid-1");
    EXPECT_EQ(doc::text_in(object, "reportingInstance"), "node1");
  }
  EXPECT_EQ(count, 1u);
}

TEST_F(ClusterSideTest, EndsAtOnceWhileTheServerIsAway) {
  api.away = true;
  kube::fake::FakeClock stepped(kube::fake::FakeClock::Goes::kOnAdvance);
  kube::Client slow(server, stepped, {.retry = {.tries = 1}});
  const auto side = start(slow, hours(2));
  // The two caches, the four that write statuses, and the one that keeps: all wait for times that do not come.
  EXPECT_TRUE(eventually([&] { return stepped.waiting() == 7; }));
  std::atomic<bool> stopped = false;
  const std::jthread end([&] {
    side->stop();
    stopped = true;
  });
  EXPECT_TRUE(eventually([&] { return stopped.load(); }));
  stepped.advance(hours(3));  // a wait that continued is ended
}

}  // namespace
}  // namespace railbed::agent
