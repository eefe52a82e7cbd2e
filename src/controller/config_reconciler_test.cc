// SPDX-License-Identifier: Apache-2.0
// SriovOperatorConfig and SriovNetworkPoolConfigs with the whole operator: test_operator.h.
#include "controller/config_reconciler.h"

#include <atomic>

#include <gtest/gtest.h>

#include "controller/test_operator.h"
#include "controller/upstream_finalizers.h"
#include "doc/members.h"
#include "kube/object.h"

namespace railbed::controller {
namespace {

using namespace testing;

struct ConfigReconcilerTest : OperatorTest {
  static std::string config_path(const std::string& ns = "op") {
    return fmt::format("/apis/sriovnetwork.openshift.io/v1/namespaces/{}/sriovoperatorconfigs/default", ns);
  }
  static std::string pool_path(const std::string& name) {
    return "/apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovnetworkpoolconfigs/" + name;
  }
  static Value config(const std::string& spec, const std::string& ns = "op") {
    Value out = object("sriovnetwork.openshift.io/v1", "SriovOperatorConfig", ns, "default");
    out.set("spec", json(spec));
    return out;
  }
  static Value pool(const std::string& name, const std::string& spec) {
    Value out = object("sriovnetwork.openshift.io/v1", "SriovNetworkPoolConfig", "op", name);
    out.set("spec", json(spec));
    return out;
  }
  std::string said(const std::string& path) {
    const Value stored = world.stored(path);
    const Value* status = stored.find("status");
    return status != nullptr ? first_condition(*status).text() : "";
  }
  void expect_said(const std::string& path, const std::string& text) {
    expect(text, [&] { return said(path) == text; });
    EXPECT_EQ(said(path), text);
  }
  std::string wanted(const std::string& node) {
    const Value state = world.stored(state_path(node));
    return kube::annotation_of(state, api::kWantedAnnotation);
  }
};

TEST_F(ConfigReconcilerTest, ANodeThatIsNotSelectedKeepsItsVfs) {
  start();
  node_with_nics("gpu1", {{"gpu", "yes"}});
  world.put(policy("rail0", kP0));
  expect("it has VFs", [&] { return world.has_vfs("gpu1", 4); });
  world.server.put(config_path(), config(R"({"configDaemonNodeSelector": {"rail": "yes"}, "logLevel": 2})"));
  expect("its agent hears of it", [&] {
    return wanted("gpu1") == R"({"leftAlone":true,"logLevel":2,"resourcePrefix":"openshift.io","version":1})";
  });
  expect_event(
      "Held: configDaemonNodeSelector (rail=yes) of SriovOperatorConfig op/default does not select the node, "
      "and it has no label railbed.dev/managed=true");
  world.put(policy("rail0", R"("numVfs": 6, "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {})"));
  expect_stays("its spec stays", [&] { return world.has_vfs("gpu1", 4); });
  expect_said(config_path(),
              "Used: nodes without rail=yes are left as they are, but for those with "
              "railbed.dev/managed=true; logs of level 2");
  // A node that was never selected gets no node state.
  world.put_node("gpu2");
  expect_stays("none", [&] { return world.stored(state_path("gpu2")).is_null(); });
  // One that somebody handed over does.
  world.put_node("gpu3", {{"railbed.dev/managed", "true"}});
  expect("one", [&] { return !world.stored(state_path("gpu3")).is_null(); });
  world.put_node("gpu1", {{"gpu", "yes"}, {"rail", "yes"}});
  expect("it is followed again", [&] { return world.has_vfs("gpu1", 6); });
  EXPECT_EQ(wanted("gpu1"), R"({"logLevel":2,"resourcePrefix":"openshift.io","version":1})");
}

TEST_F(ConfigReconcilerTest, SaysWhatItIgnoresAndWhichOneCounts) {
  world.server.put(config_path("sriov-network-operator"), config(R"({"logLevel": 1})", "sriov-network-operator"));
  world.server.put(config_path(), config(R"({"useCDI": true})"));
  start();
  expect_said(config_path(),
              "UsedInPart: ignored: useCDI (containers get devices without CDI); used: all nodes, as by "
              "default");
  expect_said(config_path("sriov-network-operator"), "Ignored: SriovOperatorConfig op/default counts");
  world.server.erase(config_path());
  expect_said(config_path("sriov-network-operator"), "Used: logs of level 1");
}

TEST_F(ConfigReconcilerTest, SaysByEventsWhatTheirDefinitionsPrune) {
  world.server.prune = [](const std::string& path, Value& stored) {
    if (path.find("configs/") != std::string::npos && stored.find("status") != nullptr)
      stored.set("status", Value::object());
  };
  world.put_node("gpu1");
  world.server.put(config_path(), config(R"({"enableOvsOffload": true})"));
  world.server.put(pool_path("a"), pool("a", R"({"maxUnavailable": "10%"})"));
  start();
  expect_event("UsedInPart: ignored: enableOvsOffload (railbed does not configure Open vSwitch)");
  expect_event("Used: 1 node, at most 1 at once (10% of 1 node is less than one)");
  const int writes = world.writes_of(pool_path("a"));
  expect_stays("it says it once", [&] { return world.writes_of(pool_path("a")) == writes; });
}

TEST_F(ConfigReconcilerTest, PoolsSayWhichNodesTheyHave) {
  for (const char* name : {"n1", "n2"}) world.put_node(name, {{"rack", "a"}});
  world.server.put(pool_path("a"),
                   pool("a", R"({"maxUnavailable": 1, "nodeSelector": {"matchLabels": {"rack": "a"}}})"));
  start();
  expect_said(pool_path("a"), "Used: 2 nodes, at most 1 at once");
  world.server.put(pool_path("b"),
                   pool("b", R"({"maxUnavailable": 1, "nodeSelector": {"matchLabels": {"row": "1"}}})"));
  expect_said(pool_path("b"), "NoNodeMatches: its nodeSelector matches no node");
  world.put_node("n2", {{"rack", "a"}, {"row", "1"}});
  expect_said(pool_path("a"),
              "NodesInTwoPools: n2 is also in op/b: nothing is interrupted there until one nodeSelector leaves it out; "
              "beside them 1 node, at most 1 at once");
  world.server.put(pool_path("b"), pool("b", R"({"maxUnavailable": "many"})"));
  expect("it cannot be read", [&] { return said(pool_path("b")).starts_with("Invalid: spec.maxUnavailable: "); });
  expect_said(pool_path("a"), "Used: 2 nodes, at most 1 at once");
}

TEST_F(ConfigReconcilerTest, TheModeOfAPoolReachesItsNodes) {
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  world.server.put(pool_path("a"), pool("a", R"({"maxUnavailable": 1, "rdmaMode": "exclusive"})"));
  expect("the node state has it",
         [&] { return world.spec("gpu1").find(R"("system":{"rdmaMode":"exclusive"})") != std::string::npos; });
  expect_said(pool_path("a"), "Used: 1 node, at most 1 at once");
  Value state = world.stored(state_path("gpu1"));
  state.find("status")->set("system", json(R"({"rdmaMode": "shared"})"));
  world.server.put(state_path("gpu1"), state);
  expect("it is not in effect", [&] {
    return said(pool_path("a")).starts_with("RdmaModeDiffers: rdmaMode exclusive is not in effect on gpu1");
  });
  world.server.erase(pool_path("a"));
  expect("it goes with its pool", [&] { return world.spec("gpu1").find("system") == std::string::npos; });
}

TEST_F(ConfigReconcilerTest, TakesTheFinalizersOfAnOperatorThatHasGone) {
  const auto deleted = [](Value one, std::string_view finalizer) {
    Value& meta = *one.find("metadata");
    meta.set("finalizers", doc::texts({std::string(finalizer), "other/one"}));
    meta.set("deletionTimestamp", "2026-11-22T15:00:00Z");
    return one;
  };
  world.server.put(config_path(), deleted(config("{}"), kUpstreamConfigFinalizer));
  world.server.put(pool_path("a"), deleted(pool("a", "{}"), kUpstreamPoolFinalizer));
  Value stays = pool("b", "{}");
  stays.find("metadata")->set("finalizers", doc::texts({std::string(kUpstreamPoolFinalizer)}));
  world.server.put(pool_path("b"), stays);
  start();
  const auto finalizers = [&](const std::string& path) {
    const Value stored = world.stored(path);
    return doc::to_json(*stored.find("metadata")->find("finalizers"));
  };
  for (const std::string& path : {config_path(), pool_path("a")})
    expect(path, [&] { return finalizers(path) == R"(["other/one"])"; });
  expect("that of one that is not deleted stays", [&] { return !said(pool_path("b")).empty(); });
  EXPECT_NE(finalizers(pool_path("b")), "[]");
}

// Without the kinds the operator does what it does by default, and hears of them when they come.
TEST_F(ConfigReconcilerTest, KindsThatAreAbsentCloseOnlyWhatTheySay) {
  using Served = kube::fake::ApiServer::Served;
  world.server.serve(kube::kOperatorConfigs, Served::kNo);
  world.server.serve(kube::kPoolConfigs, Served::kNo);
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  expect("policies are followed", [&] { return world.has_vfs("gpu1", 4); });
  EXPECT_EQ(running->work.snapshot().closed, "");
  world.server.serve(kube::kOperatorConfigs, Served::kYes);
  world.server.put(config_path(), config(R"({"logLevel": 1})"));
  expect("it counts",
         [&] { return wanted("gpu1") == R"({"logLevel":1,"resourcePrefix":"openshift.io","version":1})"; });
}

}  // namespace
}  // namespace railbed::controller
