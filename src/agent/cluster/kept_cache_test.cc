// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/kept_cache.h"

#include <gtest/gtest.h>

#include "agent/cluster/test_cluster.h"
#include "kube/fake/clock.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
constexpr const char* kFile = "/var/lib/railbed/cache/pods.json";

// The informer runs in the test's thread, in a clock that stands still.
struct KeptCacheTest : testing::Test {
  kube::fake::ApiServer server;
  kube::fake::FakeClock clock;
  kube::Client client{server, clock};
  os::FakeDisk disk;

  KeptCache::Settings settings(const std::string& of = "https://10.0.0.1:6443") const {
    return {.informer = {.resource = kube::kPods,
                         .selection = {.ns = "", .labels = "", .fields = "spec.nodeName=node1"},
                         .trim = pod_kept()},
            .folder = "/var/lib/railbed/cache",
            .server = of};
  }
  // Lists and follows until there is nothing more.
  void feed(KeptCache& cache) {
    std::stop_source stop;
    server.on_idle = [&] {
      stop.request_stop();
      return kube::fake::ApiServer::Idle::kAgain;
    };
    cache.run(stop.get_token());
  }
};

TEST_F(KeptCacheTest, TheNextAgentKnowsWhatThisOneKnew) {
  server.put(pod_path("a"), pod_object("a", {{"k8s.v1.cni.cncf.io/networks", "rail"}, {"other", "x"}}));
  KeptCache first(client, disk, settings());
  EXPECT_EQ(first.restore().error().code, Code::kNotFound);
  EXPECT_FALSE(first.is_known());
  EXPECT_FALSE(first.health().age.has_value());
  feed(first);
  ASSERT_TRUE(first.save().has_value());
  EXPECT_TRUE(disk.files().contains(kFile));

  clock.advance(seconds(90));
  KeptCache second(client, disk, settings());
  ASSERT_EQ(second.restore().value_or(0), 1u);
  EXPECT_TRUE(second.is_known());
  EXPECT_FALSE(second.health().informer.synced);
  EXPECT_EQ(second.health().age, seconds(90));
  const kube::ObjectPtr pod = second.find({.ns = "ai", .name = "a"});
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(annotations_of(*pod).size(), 1u) << "what networks do not need is not kept";
  EXPECT_EQ(pod->find("metadata")->find("labels"), nullptr);

  // The world went on meanwhile: what is gone goes with the first list, and what came comes.
  server.erase(pod_path("a"));
  server.put(pod_path("b"), pod_object("b"));
  feed(second);
  EXPECT_EQ(second.find({.ns = "ai", .name = "a"}), nullptr);
  EXPECT_NE(second.find({.ns = "ai", .name = "b"}), nullptr);
  EXPECT_FALSE(second.health().restored.has_value());
  EXPECT_EQ(second.health().age, seconds(0));
}

TEST_F(KeptCacheTest, AnotherClustersFileOrADamagedOneIsNone) {
  server.put(pod_path("a"), pod_object("a"));
  KeptCache first(client, disk, settings());
  feed(first);
  ASSERT_TRUE(first.save().has_value());
  KeptCache elsewhere(client, disk, settings("https://10.0.0.2:6443"));
  const auto taken = elsewhere.restore();
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(
      taken.error().story(),
      "/var/lib/railbed/cache/pods.json: it has objects of pods of https://10.0.0.1:6443, spec.nodeName=node1, not "
      "of pods of https://10.0.0.2:6443, spec.nodeName=node1");
  EXPECT_FALSE(elsewhere.is_known());

  disk.put(kFile, disk.files().at(kFile).substr(0, 40));
  KeptCache damaged(client, disk, settings());
  EXPECT_EQ(damaged.restore().error().code, Code::kInvalid);
  EXPECT_FALSE(damaged.is_known());
  EXPECT_EQ(damaged.find({.ns = "ai", .name = "a"}), nullptr);
}

TEST_F(KeptCacheTest, TheFileIsWrittenForSeveralChangesAndNowAndThen) {
  KeptCache cache(client, disk, settings());
  feed(cache);
  const auto writes = [&] {
    const int before = disk.changes();
    EXPECT_TRUE(cache.save().has_value());
    return disk.changes() - before;
  };
  EXPECT_GT(writes(), 0);
  EXPECT_EQ(writes(), 0);
  server.put(pod_path("a"), pod_object("a"));
  feed(cache);
  EXPECT_EQ(writes(), 0) << "not at once";
  server.put(pod_path("b"), pod_object("b"));
  feed(cache);
  clock.advance(seconds(2));
  EXPECT_GT(writes(), 0);
  clock.advance(seconds(100));
  EXPECT_EQ(writes(), 0) << "nothing changed";
  clock.advance(seconds(200));
  EXPECT_GT(writes(), 0) << "so that it shows how old it is";
  server.put(pod_path("c"), pod_object("c"));
  feed(cache);
  const int before = disk.changes();
  ASSERT_TRUE(cache.save(KeptCache::When::kNow).has_value());
  EXPECT_GT(disk.changes(), before) << "an agent that ends does not wait";
}

TEST_F(KeptCacheTest, AFullDiskIsReportedAndTriedAgain) {
  server.put(pod_path("a"), pod_object("a"));
  KeptCache cache(client, disk, settings());
  feed(cache);
  disk.refuse(ENOSPC);
  const auto full = cache.save();
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().sys_errno, ENOSPC);
  EXPECT_NE(cache.find({.ns = "ai", .name = "a"}), nullptr) << "the cache itself needs no disk";
  EXPECT_TRUE(cache.save().has_value()) << "not with every look";
  disk.refuse(0);
  clock.advance(seconds(3));
  ASSERT_TRUE(cache.save().has_value());
  EXPECT_TRUE(disk.files().contains(kFile));
}

TEST_F(KeptCacheTest, WhatCouldNotBeReadAgainIsNotWritten) {
  KeptCache cache(client, disk, settings());
  feed(cache);
  ASSERT_TRUE(cache.save().has_value());
  const auto put = [&](int first, int end) {
    for (int i = first; i < end; ++i)
      server.put(pod_path(fmt::format("p{}", i)),
                 pod_object(fmt::format("p{}", i), {{"k8s.v1.cni.cncf.io/networks", std::string(250 << 10, 'x')}}));
    feed(cache);
    clock.advance(seconds(3));
  };
  put(0, 15);
  ASSERT_TRUE(cache.save().has_value());
  EXPECT_EQ(KeptCache(client, disk, settings()).restore().value_or(0), 15U) << "3.7 of 4 MiB";
  put(15, 20);
  const auto large = cache.save();
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().code, Code::kExhausted);
  EXPECT_FALSE(disk.files().contains(kFile)) << "an older one would show what is not true any more";
}

TEST_F(KeptCacheTest, NothingIsWrittenBeforeTheFirstList) {
  disk.put(kFile, "not touched");
  KeptCache cache(client, disk, settings());
  EXPECT_FALSE(cache.restore().has_value());
  EXPECT_TRUE(cache.save(KeptCache::When::kNow).has_value());
  EXPECT_EQ(disk.files().at(kFile), "not touched");
}

}  // namespace
}  // namespace railbed::agent
