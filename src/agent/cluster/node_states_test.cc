// SPDX-License-Identifier: Apache-2.0
// The whole loop over an API server in memory: from an order to the status, and beside the SR-IOV operator.
#include "agent/cluster/node_states.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "agent/cluster/test_cluster.h"
#include "agent/cluster/test_node.h"
#include "doc/json.h"
#include "drain/agent_report.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;

constexpr const char* kStatePath = "/apis/sriovnetwork.openshift.io/v1/namespaces/net/sriovnetworknodestates/node1";
constexpr const char* kDaemonPath = "/api/v1/namespaces/sriov/pods/sriov-network-config-daemon-x";

class NodeStatesTest : public testing::Test {
 protected:
  // Labels as our operator writes them.
  doc::Value ours(doc::Value state) {
    doc::Value labels;
    labels.set("app.kubernetes.io/managed-by", "railbed");
    state.find("metadata")->set("labels", std::move(labels));
    return state;
  }
  doc::Value daemon_pod() {
    doc::Value pod = kube::fake::object("Pod", "sriov", "sriov-network-config-daemon-x");
    pod.find("metadata")->set("labels", doc::Value::object()).set("app", "sriov-network-config-daemon");
    pod.set("spec", doc::Value::object()).set("nodeName", "node1");
    return pod;
  }
  void start() {
    states = std::make_unique<NodeStates>(NodeStates::Dependencies{*node.engine, node.offers, client},
                                          NodeStatesSettings{.ns = "net",
                                                             .keeper = {.node = "node1",
                                                                        .options = {},
                                                                        .apply = {.parallel = false},
                                                                        .look = milliseconds(20),
                                                                        .waiting = milliseconds(20)}});
    thread = std::jthread([this](std::stop_token stop) { states->run(stop); });
  }
  void stop() {
    thread.request_stop();
    if (thread.joinable()) thread.join();
  }
  void TearDown() override {
    stop();
    EXPECT_EQ(beyond_the_role(api), "");
  }

  std::string stored(const std::string& key) {
    const auto objects = api.objects();
    const auto found = objects.find(kStatePath);
    const doc::Value* status = found != objects.end() ? found->second.find("status") : nullptr;
    return status != nullptr ? doc::text_in(*status, key) : "";
  }
  size_t writes() {
    size_t count = 0;
    for (const std::string& request : api.requests()) count += request.starts_with("PATCH") ? 1 : 0;
    return count;
  }
  bool has_event(const std::string& reason) {
    const auto objects = api.objects();
    return std::ranges::any_of(objects, [&](const auto& one) { return doc::text_in(one.second, "reason") == reason; });
  }

  TestNode node;
  kube::fake::ApiServer api;
  std::unique_ptr<kube::Clock> clock = kube::real_clock();
  kube::Client client{api, *clock};
  std::unique_ptr<NodeStates> states;
  std::jthread thread;
};

TEST_F(NodeStatesTest, AnOrderIsCarriedOutAndReported) {
  api.put(kStatePath, ours(node.state_of(two_policies(), 5)));
  start();
  ASSERT_TRUE(eventually([&] { return stored("syncStatus") == "Succeeded"; }))
      << fmt::format("{}", states->reasons().size());
  const doc::Value object = api.objects().at(kStatePath);
  EXPECT_EQ(doc::number_in(*object.find("status"), "observedGeneration"), 5);
  EXPECT_EQ(object.find("status")->find("interfaces")->as_array()->size(), 2U);
  ASSERT_TRUE(eventually([&] { return has_event("VfsChanged"); }));
  EXPECT_EQ(states->reasons(), std::vector<std::string>{});
  // Looks at the machine cost no writes.
  const size_t before = writes();
  const uint64_t passes = states->counters().node.passes;
  ASSERT_TRUE(eventually([&] { return states->counters().node.passes > passes + 5; }));
  EXPECT_EQ(writes(), before);
  EXPECT_LE(before, 4U) << "InProgress, Succeeded and an event";
}

// configDaemonNodeSelector: the node keeps its VFs, and nothing is changed or offered.
TEST_F(NodeStatesTest, StandsAsideWhereTheOperatorSaysSo) {
  const auto state_with = [&](bool left_alone) {
    doc::Value state = ours(node.state_of(two_policies()));
    state.find("metadata")
        ->set("annotations", doc::Value::object())
        .set(api::kWantedAnnotation, api::to_text({.resource_prefix = "openshift.io", .left_alone = left_alone}));
    return state;
  };
  api.put(kStatePath, state_with(true));
  start();
  ASSERT_TRUE(eventually([&] { return states->counters().node.aside; }));
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(states->reasons(),
            std::vector<std::string>{"railbed changes no VFs on this node: configDaemonNodeSelector of the "
                                     "SriovOperatorConfig does not select the node"});
  api.put(kStatePath, state_with(false));
  ASSERT_TRUE(eventually([&] { return stored("syncStatus") == "Succeeded"; }));
}

TEST_F(NodeStatesTest, ChangesNothingWhileTheDaemonOfTheOtherOperatorIsHere) {
  api.put(kStatePath, ours(node.state_of(two_policies())));
  api.put(kDaemonPath, daemon_pod());
  start();
  ASSERT_TRUE(eventually([&] { return has_event("StandsAside"); }));
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(stored("syncStatus"), "");
  ASSERT_TRUE(eventually([&] { return states->counters().node.aside; }));  // the Event comes before the count
  api.erase(kDaemonPath);
  ASSERT_TRUE(eventually([&] { return stored("syncStatus") == "Succeeded"; }));
}

TEST_F(NodeStatesTest, ANodeStateOfTheOtherOperatorWaitsForTheNodesLabel) {
  api.put(kStatePath, node.state_of(two_policies()));
  start();
  ASSERT_TRUE(eventually([&] { return states->counters().node.aside; }));
  EXPECT_EQ(states->reasons(),
            std::vector<std::string>{"railbed changes no VFs on this node: its node state was written by the SR-IOV "
                                     "operator; label the node railbed.dev/managed=true to take it over"});
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  doc::Value labelled = kube::fake::object("Node", "", "node1");
  doc::Value labels;
  labels.set("railbed.dev/managed", "true");
  labelled.find("metadata")->set("labels", std::move(labels));
  api.put("/api/v1/nodes/node1", labelled);
  ASSERT_TRUE(eventually([&] { return stored("syncStatus") == "Succeeded"; }));
}

TEST_F(NodeStatesTest, WithoutAnApiServerWhatWasThereIsOfferedAndItSaysSo) {
  node.pass(node.state_of(two_policies()));
  node.restart();
  node.offers.offers.clear();
  node.kernel.clear_journal();
  api.before = [](const kube::Request&) -> std::optional<kube::ApiError> {
    return kube::unanswered(Code::kIo, kube::Delivery::kNotSent, "no route to host");
  };
  start();
  ASSERT_TRUE(eventually([&] { return states->counters().node.passes >= 1 && states->reasons().size() == 1; }));
  ASSERT_TRUE(eventually([&] { return states->reasons()[0].ends_with("no route to host"); })) << states->reasons()[0];
  EXPECT_EQ(states->reasons()[0].find("no VFs are changed while the API server is unreachable: "), 0U);
  EXPECT_EQ(states->counters().silent, std::chrono::milliseconds(0));  // it was never heard
  EXPECT_TRUE(eventually([&] { return states->counters().node.passes >= 4; }))
      << "the machine is looked at all the same";
  stop();
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(node.offers.last(),
            "openshift.io/rail0: 0000:01:10.0 0000:01:10.2\n"
            "openshift.io/rail1: 0000:02:10.0 0000:02:10.2 0000:02:10.4\n");
}

// It is written once, by a request of its own, and taken back when the drain ends.
TEST_F(NodeStatesTest, WhatADrainHasComeToIsAnAnnotation) {
  doc::Value state = ours(node.state_of(two_policies()));
  doc::Value& annotations = state.find("metadata")->set("annotations", doc::Value::object());
  annotations.set(
      drain::kDrainAnnotation,
      drain::to_text({.phase = drain::Phase::kWithdrawn, .change = "c1", .resources = {"openshift.io/rail0"}}));
  annotations.set("example.com/other", "stays");
  api.put(kStatePath, state);
  start();
  const auto annotation = [&](std::string_view key) {
    const auto objects = api.objects();
    const auto found = objects.find(kStatePath);
    return found == objects.end() ? "" : doc::text_in(doc::at(found->second, "metadata.annotations"), key);
  };
  const drain::AgentReport expected{.change = "c1",
                                    .withdrawn = {"openshift.io/rail0"},
                                    .applied = true,
                                    .failure = "",
                                    .boot_id = node.kernel.boot_id()};
  ASSERT_TRUE(eventually([&] { return annotation(drain::kReportAnnotation) == drain::to_text(expected); }))
      << annotation(drain::kReportAnnotation);
  ASSERT_TRUE(eventually([&] { return stored("syncStatus") == "Succeeded"; }));
  const auto reports = [&] {
    const std::string path = std::string("PATCH ") + kStatePath;
    const std::vector<std::string> requests = api.requests();
    return std::ranges::count_if(requests, [&](const std::string& request) {
      return request.starts_with(path) && !request.starts_with(path + "/");
    });
  };
  const auto before = reports();
  EXPECT_LE(before, 2) << "the report of the first pass is the last one, or the kubelet was asked twice";
  const uint64_t passes = states->counters().node.passes;
  ASSERT_TRUE(eventually([&] { return states->counters().node.passes > passes + 5; }));
  EXPECT_EQ(reports(), before) << "a pass that finds the same writes nothing";

  doc::Value ended = api.objects().at(kStatePath);
  std::erase_if(*ended.find("metadata")->find("annotations")->as_object(),
                [](const doc::Value::Member& member) { return member.key == drain::kDrainAnnotation; });
  api.put(kStatePath, ended);
  ASSERT_TRUE(eventually([&] { return annotation(drain::kReportAnnotation).empty(); }));
  EXPECT_EQ(annotation("example.com/other"), "stays");
  EXPECT_EQ(states->reasons(), std::vector<std::string>{});
}

TEST_F(NodeStatesTest, AReportOfADrainThatIsRefusedIsNamed) {
  api.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.to_string() != std::string("PATCH ") + kStatePath) return std::nullopt;
    return kube::refused(request.to_string(), 403, R"({"message":"not allowed","reason":"Forbidden"})");
  };
  doc::Value state = ours(node.state_of(two_policies()));
  state.find("metadata")
      ->set("annotations", doc::Value::object())
      .set(drain::kDrainAnnotation, drain::to_text({.phase = drain::Phase::kBlocked, .change = "c1"}));
  api.put(kStatePath, state);
  start();
  ASSERT_TRUE(eventually([&] { return stored("syncStatus") == "Succeeded"; })) << "the status is written all the same";
  ASSERT_TRUE(eventually([&] { return !states->reasons().empty(); }));
  EXPECT_TRUE(states->reasons()[0].starts_with("the report of this node's drain cannot be written: "))
      << states->reasons()[0];
}

TEST_F(NodeStatesTest, ADeletedNodeStateRemovesNothingAndOneThatIsMadeAgainGetsItsStatus) {
  api.put(kStatePath, ours(node.state_of(two_policies())));
  start();
  ASSERT_TRUE(eventually([&] { return stored("syncStatus") == "Succeeded"; }));
  const std::string before = node.everything();
  api.erase(kStatePath);
  const uint64_t passes = states->counters().node.passes;
  ASSERT_TRUE(eventually([&] { return states->counters().node.passes > passes + 2; }));
  EXPECT_EQ(node.everything(), before);
  // By an operator that has just begun: it knows nothing of the node yet.
  doc::Value empty = ours(node.state_with(doc::Value::object(), 1));
  std::erase_if(*empty.as_object(), [](const doc::Value::Member& member) { return member.key == "status"; });
  api.put(kStatePath, empty);
  ASSERT_TRUE(eventually([&] { return stored("syncStatus") == "Succeeded"; }));
  EXPECT_EQ(node.everything(), before);
}

}  // namespace
}  // namespace railbed::agent
