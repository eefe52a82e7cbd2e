// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/status_writer.h"

#include <gtest/gtest.h>

#include "agent/cluster/test_cluster.h"

namespace railbed::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

struct StatusWriterTest : testing::Test {
  kube::fake::ApiServer server;
  std::unique_ptr<kube::Clock> clock = kube::real_clock();
  kube::Client client{
      server, *clock, {.timeout = milliseconds(300), .try_timeout = milliseconds(300), .retry = {.tries = 1}}};
  StatusWriter writer{client, {.most = 3, .first_pause = milliseconds(1), .longest_pause = milliseconds(4)}};
  std::vector<std::jthread> threads;

  void run(int count = 1) {
    for (int i = 0; i < count; ++i) threads.emplace_back([this](std::stop_token stop) { writer.run(stop); });
  }
  StatusToWrite status(const std::string& pod, const std::string& text, const std::string& sandbox = "c1") {
    const auto objects = server.objects();
    const auto found = objects.find(pod_path(pod));
    return {.pod = {.ns = "ai", .name = pod},
            .uid = found != objects.end() ? kube::uid_of(found->second) : "gone",
            .sandbox = "ai/" + pod + "@" + sandbox,
            .text = text};
  }
  std::string written(const std::string& pod) {
    return annotations_of(server.objects().at(pod_path(pod)))[kNetworkStatusAnnotation];
  }
  size_t pending() const { return writer.counters().pending; }
};

TEST_F(StatusWriterTest, OneRequestWritesOneAnnotationAndNothingElse) {
  server.put(pod_path("a"), pod_object("a", {{"mine", "stays"}}));
  std::string body;
  server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    body = request.body;
    return std::nullopt;
  };
  writer.put(status("a", "[1]"));
  run();
  ASSERT_TRUE(eventually([&] { return pending() == 0; }));
  EXPECT_EQ(written("a"), "[1]");
  EXPECT_EQ(annotations_of(server.objects().at(pod_path("a")))["mine"], "stays");
  EXPECT_EQ(server.requests(),
            std::vector<std::string>{"PATCH /api/v1/namespaces/ai/pods/a/status?fieldManager=railbed&force=true"});
  EXPECT_EQ(body, R"({"metadata":{"namespace":"ai","name":"a","uid":"uid-1","annotations":)"
                  R"({"k8s.v1.cni.cncf.io/network-status":"[1]"}},"kind":"Pod","apiVersion":"v1"})");
}

TEST_F(StatusWriterTest, TheLatestOfAPodWinsHoweverLongTheServerIsAway) {
  for (const char* name : {"a", "b"}) server.put(pod_path(name), pod_object(name));
  std::atomic<int> refusals = 30;
  server.before = [&](const kube::Request&) { return refusals-- > 0 ? std::optional(away()) : std::nullopt; };
  writer.put(status("a", "[1]"));
  writer.put(status("b", "[b]"));
  writer.put(status("a", "[2]"));
  run(2);
  ASSERT_TRUE(eventually([&] { return pending() == 0; }));
  EXPECT_EQ(written("a"), "[2]");
  EXPECT_EQ(written("b"), "[b]");
  EXPECT_EQ(count_of(server, "PATCH"), 2u) << "one for each pod reached the server";
  EXPECT_EQ(writer.counters().written, 2u);
  EXPECT_EQ(writer.counters().failed, 30u);
  EXPECT_FALSE(writer.counters().last_error.has_value()) << "it answers again";
}

TEST_F(StatusWriterTest, LeavesAServerAloneForAsLongAsItAsks) {
  kube::fake::FakeClock stepped(kube::fake::FakeClock::Goes::kOnAdvance);
  kube::Client slow(server, stepped, {.retry = {.tries = 1}});
  StatusWriter patient(slow, {.first_pause = milliseconds(1), .longest_pause = hours(1)});
  server.put(pod_path("a"), pod_object("a"));
  const kube::Instant began = stepped.now();
  std::mutex mutex;
  std::vector<kube::Instant::duration> tries;
  server.before = [&](const kube::Request&) -> std::optional<kube::ApiError> {
    const std::lock_guard lock(mutex);
    tries.push_back(stepped.now() - began);
    if (tries.size() > 1) return std::nullopt;
    kube::ApiError error = kube::refused("PATCH x", 429, "");
    error.retry_after = milliseconds(400);  // more than the client itself waits for
    return error;
  };
  patient.put(status("a", "[1]"));
  std::vector<std::jthread> two;
  for (int i = 0; i < 2; ++i) two.emplace_back([&](std::stop_token stop) { patient.run(stop); });
  ASSERT_TRUE(waits_for(stepped, milliseconds(400)));
  stepped.advance(milliseconds(399));
  stepped.advance(milliseconds(1));
  ASSERT_TRUE(eventually([&] { return patient.counters().pending == 0; }));
  EXPECT_EQ(tries, (std::vector<kube::Instant::duration>{milliseconds(0), milliseconds(400)}));
  EXPECT_EQ(written("a"), "[1]");
}

TEST_F(StatusWriterTest, APodThatIsGoneOrAnotherOneNeedsNone) {
  server.put(pod_path("a"), pod_object("a"));
  StatusToWrite old = status("a", "[old]");
  server.erase(pod_path("a"));
  server.put(pod_path("a"), pod_object("a"));
  writer.put(old);
  writer.put(status("never", "[x]"));
  run();
  ASSERT_TRUE(eventually([&] { return pending() == 0; }));
  EXPECT_EQ(written("a"), "");
  EXPECT_EQ(writer.counters().gone, 2u);
  EXPECT_EQ(server.requests().size(), 2u) << "neither is asked again";
  EXPECT_FALSE(server.objects().contains(pod_path("never")));
}

TEST_F(StatusWriterTest, OnlyTheSandboxThatIsGoneTakesItsStatusBack) {
  server.put(pod_path("a"), pod_object("a"));
  server.put(pod_path("b"), pod_object("b"));
  writer.put(status("a", "[first]", "c1"));
  writer.put(status("a", "[second]", "c2"));
  writer.drop("ai/a@c1");
  writer.put(status("b", "[b]"));
  writer.drop("ai/b@c1");
  run();
  ASSERT_TRUE(eventually([&] { return pending() == 0; }));
  EXPECT_EQ(written("a"), "[second]");
  EXPECT_EQ(written("b"), "");
}

TEST_F(StatusWriterTest, WhatIsPutWhileItIsWrittenIsWrittenToo) {
  server.put(pod_path("a"), pod_object("a"));
  std::atomic<bool> first = true;
  server.before = [&](const kube::Request&) -> std::optional<kube::ApiError> {
    if (first.exchange(false)) writer.put(status("a", "[2]", "c2"));
    return std::nullopt;
  };
  writer.put(status("a", "[1]"));
  run(3);
  ASSERT_TRUE(eventually([&] { return pending() == 0; }));
  EXPECT_EQ(written("a"), "[2]");
  EXPECT_EQ(count_of(server, "PATCH"), 2u);
}

TEST_F(StatusWriterTest, WhatTheServerNeverTakesIsGivenUp) {
  server.put(pod_path("a"), pod_object("a"));
  server.before = [&](const kube::Request&) { return std::optional(kube::refused("PATCH x", 422, "")); };
  writer.put(status("a", "[1]"));
  run();
  ASSERT_TRUE(eventually([&] { return pending() == 0; }));
  EXPECT_EQ(writer.counters().dropped, 1u);
  EXPECT_EQ(writer.counters().last_error->message, "PATCH x: 422");
}

// A policy of the cluster says 403 or 422, as its reason has it.
TEST_F(StatusWriterTest, WhatAPolicyRefusesIsGivenUp) {
  for (const int status_code : {403, 422}) {
    server.put(pod_path("a"), pod_object("a"));
    server.before = [&](const kube::Request&) {
      return std::optional(kube::refused(
          "PATCH x", status_code,
          R"({"kind":"Status","message":"pods \"a\" is forbidden: ValidatingAdmissionPolicy 'railbed-agent-pods' with binding 'b' denied request: no"})"));
    };
    const uint64_t dropped = writer.counters().dropped;
    writer.put(status("a", "[1]"));
    if (status_code == 403) run();
    ASSERT_TRUE(eventually([&] { return pending() == 0; })) << status_code;
    EXPECT_EQ(writer.counters().dropped, dropped + 1) << status_code;
  }
}

// A right that is missing may be given later; the pods behind it are not kept waiting meanwhile.
TEST_F(StatusWriterTest, ARightThatIsMissingIsAskedForAgain) {
  server.put(pod_path("a"), pod_object("a"));
  server.put(pod_path("b"), pod_object("b"));
  std::atomic<bool> denied = true;
  server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (denied && request.target.find("/a/status") != std::string::npos) return kube::refused("PATCH a", 403, "");
    return std::nullopt;
  };
  writer.put(status("a", "[1]"));
  writer.put(status("b", "[b]"));
  run();
  ASSERT_TRUE(eventually([&] { return written("b") == "[b]"; }));
  EXPECT_TRUE(eventually([&] { return pending() == 1; }));
  denied = false;
  ASSERT_TRUE(eventually([&] { return written("a") == "[1]"; }));
}

TEST_F(StatusWriterTest, NoMoreThanSaidWait) {
  for (const char* name : {"a", "b", "c", "d"}) {
    server.put(pod_path(name), pod_object(name));
    writer.put(status(name, "[1]"));
  }
  EXPECT_EQ(pending(), 3u);
  EXPECT_EQ(writer.counters().dropped, 1u);
  run();
  ASSERT_TRUE(eventually([&] { return pending() == 0; }));
  EXPECT_EQ(written("a"), "") << "the oldest went";
  EXPECT_EQ(written("d"), "[1]");
}

TEST_F(StatusWriterTest, StopsAtOnceWhileTheServerIsAway) {
  kube::fake::FakeClock stepped(kube::fake::FakeClock::Goes::kOnAdvance);
  kube::Client slow(server, stepped, {.retry = {.tries = 1}});
  StatusWriter patient(slow, {.first_pause = hours(1), .longest_pause = hours(1)});
  server.put(pod_path("a"), pod_object("a"));
  server.before = [&](const kube::Request&) { return std::optional(away()); };
  patient.put(status("a", "[1]"));
  std::atomic<bool> ended = false;
  std::jthread thread([&](std::stop_token stop) {
    patient.run(stop);
    ended = true;
  });
  ASSERT_TRUE(waits_for(stepped, std::chrono::minutes(45)));  // an hour's pause, with half of the chance
  thread.request_stop();
  EXPECT_TRUE(eventually([&] { return ended.load(); })) << "it waits for an hour that does not pass";
  stepped.advance(hours(2));
  EXPECT_EQ(patient.counters().failed, 1u) << "nothing was tried after the stop";
}

}  // namespace
}  // namespace railbed::agent
