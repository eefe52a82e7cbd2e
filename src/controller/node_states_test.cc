// SPDX-License-Identifier: Apache-2.0
#include "controller/node_states.h"

#include <gtest/gtest.h>

#include "controller/test_cluster.h"
#include "doc/members.h"

namespace railbed::controller {
namespace {

using namespace testing;
using Action = NodeDecision::Action;
using State = graph::PolicyOutcome::State;

constexpr const char* kFourVfs = R"("numVfs": 4, "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {"gpu": "yes"})";

struct NodeStatesTest : ::testing::Test {
  Value node_object = node("gpu1", {{"gpu", "yes"}});
  Value state = node_state("gpu1");
  kube::Objects stored;
  NodeView view{.name = "gpu1",
                .ns = "op",
                .node = &node_object,
                .state = &state,
                .now = *kube::read_time("2026-11-22T15:00:00Z")};

  void add(const Value& policy) { stored[kube::key_of(policy)] = std::make_shared<const Value>(policy); }
  void annotate(std::string_view key, const std::string& value) {
    state.find("metadata")->set("annotations", Value::object()).set(key, value);
  }
  NodeDecision decided() { return decide(view, PolicySet(stored, {})); }
  // What the API server makes of what was decided.
  NodeDecision applied() {
    NodeDecision decision = decided();
    EXPECT_EQ(decision.action, Action::kApply);
    state.set("spec", *decision.body.find("spec"));
    Value& meta = *state.find("metadata");
    for (const char* key : {"labels", "annotations"})
      if (const Value* given = decision.body.find("metadata")->find(key)) meta.set(key, *given);
    return decision;
  }
};

TEST_F(NodeStatesTest, BeginsWithAnEmptySpec) {
  view.state = nullptr;
  add(policy("rail0", kFourVfs));
  const NodeDecision decision = decided();
  EXPECT_EQ(decision.action, Action::kApply);
  EXPECT_EQ(
      doc::to_json(decision.body),
      R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":"railbed"},"name":"gpu1","namespace":"op"},"spec":{}})");
  ASSERT_EQ(decision.outcomes.size(), 1u);
  EXPECT_EQ(decision.outcomes.front().progress, NodeProgress::kNotYet);
}

TEST_F(NodeStatesTest, WaitsForTheNics) {
  add(policy("rail0", kFourVfs));
  const NodeDecision decision = decided();
  EXPECT_EQ(decision.action, Action::kNone);
  EXPECT_EQ(decision.held, "");
}

TEST_F(NodeStatesTest, WritesWhatTheGraphSaysOnce) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", two_nics()));
  const NodeDecision decision = applied();
  EXPECT_EQ(decision.what, "its spec, 1 PFs");
  EXPECT_EQ(
      doc::to_json(decision.body),
      R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":"railbed"},"name":"gpu1","namespace":"op","uid":"state-gpu1",)"
      R"("annotations":{"railbed.dev/wanted":"{\"resourcePrefix\":\"openshift.io\",\"version\":1}"}},)"
      R"("spec":{"interfaces":[{"eSwitchMode":"legacy","name":"p0","numVfs":4,"pciAddress":"0000:01:00.0",)"
      R"("vfGroups":[{"deviceType":"netdevice","policyName":"rail0","resourceName":"rail0","vfRange":"0-3"}]}]}})");
  EXPECT_EQ(decided().action, Action::kNone);
}

TEST_F(NodeStatesTest, FollowsAPolicyThatSelectsItNoMore) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", two_nics()));
  applied();
  add(policy("rail0", R"("numVfs": 4, "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {"gpu": "no"})"));
  const NodeDecision decision = applied();
  EXPECT_EQ(doc::to_json(*decision.body.find("spec")), R"({"interfaces":[]})");
  EXPECT_TRUE(decision.outcomes.empty());
}

TEST_F(NodeStatesTest, AllowsPfsOfTheHostByAnAnnotation) {
  Value allowing = policy("rail0", kFourVfs);
  allowing.find("metadata")->set("annotations", Value::object()).set("railbed.dev/allow-host-pf", "true");
  add(allowing);
  state.set("status", status_of("gpu1", two_nics()));
  const NodeDecision decision = applied();
  EXPECT_EQ(doc::text_in(*decision.body.find("metadata")->find("annotations"), graph::kHostPfsAllowed), "0000:01:00.0");
  EXPECT_EQ(decided().action, Action::kNone);
  stored.clear();
  add(policy("rail0", kFourVfs));
  EXPECT_EQ(decided().action, Action::kApply) << "the permission was taken back";
}

TEST_F(NodeStatesTest, SaysByAnAnnotationWhichPodsGetManagementDatagrams) {
  Value giving = policy("rail0", kFourVfs);
  giving.find("metadata")->set("annotations", Value::object()).set("railbed.dev/mad", "true");
  add(giving);
  state.set("status", status_of("gpu1", two_nics()));
  const NodeDecision decision = applied();
  const std::string resource = doc::text_in(*giving.find("spec"), "resourceName");
  EXPECT_EQ(doc::text_in(*decision.body.find("metadata")->find("annotations"), graph::kMadResources), resource);
  EXPECT_EQ(decided().action, Action::kNone);
  stored.clear();
  add(policy("rail0", kFourVfs));
  EXPECT_EQ(decided().action, Action::kApply) << "the permission was taken back";
}

// Networks are rendered with the same prefix, so nodes must hear of another one, also those that are done.
TEST_F(NodeStatesTest, FollowsAnotherPrefix) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", two_nics()));
  applied();
  const PolicySet others(stored, {.resource_prefix = "nvidia.com"});
  const NodeDecision decision = decide(view, others);
  EXPECT_EQ(decision.action, Action::kApply);
  EXPECT_EQ(doc::text_in(*decision.body.find("metadata")->find("annotations"), api::kWantedAnnotation),
            R"({"resourcePrefix":"nvidia.com","version":1})");
  EXPECT_EQ(*decision.body.find("spec"), *state.find("spec"));
}

// What the configuration of the operator and the node's pool say: in the annotation, and where upstream's schema has
// it.
TEST_F(NodeStatesTest, FollowsTheLogLevelAndTheRdmaModeOfItsPool) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", two_nics()));
  applied();
  view.log_level = 1;
  view.rdma_mode = "exclusive";
  const NodeDecision decision = applied();
  EXPECT_EQ(doc::text_in(*decision.body.find("metadata")->find("annotations"), api::kWantedAnnotation),
            R"({"logLevel":1,"resourcePrefix":"openshift.io","version":1})");
  EXPECT_EQ(doc::text_at(decision.body, "spec.system.rdmaMode"), "exclusive");
  EXPECT_EQ(decided().action, Action::kNone);
  // A mode that no pool names is removed, also where another writer set it.
  view.rdma_mode = "";
  EXPECT_EQ(decided().action, Action::kPatch);
  EXPECT_EQ(doc::to_json(decided().body), R"({"metadata":{"resourceVersion":"7"},"spec":{"system":null}})");
  state.find("spec")->set("system", Value());
  EXPECT_EQ(decided().action, Action::kNone);
}

TEST_F(NodeStatesTest, LeavesANodeAloneThatIsNoLongerSelected) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", two_nics()));
  applied();
  view.left_alone = "it is not selected";
  stored.clear();
  const NodeDecision decision = decided();
  EXPECT_EQ(decision.action, Action::kPatch);
  EXPECT_EQ(decision.held, "it is not selected");
  EXPECT_EQ(decision.body.find("spec"), nullptr) << "no order to remove VFs";
  const std::string annotated = doc::text_in(doc::at(decision.body, "metadata.annotations"), api::kWantedAnnotation);
  EXPECT_EQ(annotated, R"({"leftAlone":true,"resourcePrefix":"openshift.io","version":1})");
  annotate(api::kWantedAnnotation, annotated);
  EXPECT_EQ(decided().action, Action::kNone);
  EXPECT_EQ(decided().held, "it is not selected");
  // The annotation that ends this is written also where no policy is left.
  view.left_alone = "";
  EXPECT_EQ(decided().what, "its node is selected again");
  // One that belongs to another operator, or is not there, is not touched.
  view.left_alone = "it is not selected";
  Value others = node_state("gpu1", By::kOthers);
  view.state = &others;
  EXPECT_EQ(decided().action, Action::kNone);
  view.state = nullptr;
  EXPECT_EQ(decided().action, Action::kNone);
}

// A policy in a namespace that an SR-IOV operator takes back is no order to remove its VFs.
TEST_F(NodeStatesTest, KeepsTheSpecWhereAnOperatorTakesANamespaceBack) {
  const auto of_other = [](const std::string& name, const char* spec) {
    Value out = policy(name, spec);
    out.find("metadata")->set("namespace", "nvidia");
    return out;
  };
  const auto decided_with = [&](const std::set<std::string>& running) {
    return decide(view, PolicySet(stored, {}, 0, policy_namespaces("op", {"nvidia"}, running)));
  };
  add(of_other("rail0", kFourVfs));
  add(policy("rail1", R"("numVfs": 2, "nicSelector": {"pfNames": ["p1"]}, "nodeSelector": {})"));
  state.set("status", status_of("gpu1", two_nics()));
  const NodeDecision before = decided_with({});
  ASSERT_EQ(before.action, Action::kApply);
  state.set("spec", *before.body.find("spec"));
  state.find("metadata")->set("annotations", *before.body.find("metadata")->find("annotations"));
  ASSERT_EQ(decided_with({}).action, Action::kNone);

  const NodeDecision taken = decided_with({"nvidia"});
  EXPECT_EQ(taken.action, Action::kNone);
  EXPECT_EQ(
      taken.held,
      "it has VFs by policy nvidia/rail0, which does not count now (an SR-IOV operator runs in namespace nvidia: its "
      "policies are that one's); copy the policy to namespace op, or remove the label railbed.dev/managed from the "
      "node to give it to that operator");
  // With a copy in its own namespace, as the switch node by node has it, there is nothing to hold.
  add(policy("rail0", kFourVfs));
  EXPECT_EQ(decided_with({"nvidia"}).held, "");
  // A policy of another name there is nothing that this node has VFs of.
  stored.clear();
  add(of_other("other", kFourVfs));
  add(policy("rail1", R"("numVfs": 2, "nicSelector": {"pfNames": ["p1"]}, "nodeSelector": {})"));
  EXPECT_EQ(decided_with({"nvidia"}).held, "");
  EXPECT_EQ(decided_with({"nvidia"}).action, Action::kApply) << "rail0 was deleted";
}

// A missing list is no order.
TEST_F(NodeStatesTest, KeepsTheSpecWithoutPolicies) {
  state.set("status", status_of("gpu1", two_nics()));
  EXPECT_EQ(decided().action, Action::kNone) << "there is nothing to decide yet";
  add(policy("rail0", kFourVfs));
  applied();
  stored.clear();
  add(policy("default", kFourVfs));
  EXPECT_EQ(decided().action, Action::kNone);
  EXPECT_EQ(
      decided().held,
      "no policies are left; annotate the node state railbed.dev/confirm-no-policies=true to allow the removal of its "
      "VFs");
  view.without_policies = WithoutPolicies::kEmptySpecs;
  EXPECT_EQ(doc::to_json(*decided().body.find("spec")), R"({"interfaces":[]})");
}

TEST_F(NodeStatesTest, EmptiesTheSpecWhenSomebodyConfirmsAndForgetsIt) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", two_nics()));
  applied();
  stored.clear();
  annotate(kConfirmEmpty, "true");
  const NodeDecision decision = decided();
  EXPECT_EQ(doc::to_json(*decision.body.find("spec")), R"({"interfaces":[]})");
  state.set("spec", *decision.body.find("spec"));
  EXPECT_EQ(decided().action, Action::kPatch);
  EXPECT_EQ(doc::to_json(decided().body),
            R"({"metadata":{"annotations":{"railbed.dev/confirm-no-policies":null},"resourceVersion":"7"}})");
  // It is for this time only.
  add(policy("rail0", kFourVfs));
  EXPECT_EQ(decided().action, Action::kPatch);
}

TEST_F(NodeStatesTest, KeepsTheSpecWhereAPolicyCannotBeRead) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", two_nics()));
  applied();
  stored.clear();
  add(policy("rail0", R"("numVfs": "four", "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {"gpu": "yes"})"));
  EXPECT_EQ(decided().action, Action::kNone);
  EXPECT_EQ(decided().held, "policy op/rail0 cannot be read: spec.numVfs must be an integer, found a string");
  node_object = node("gpu1");
  EXPECT_EQ(decided().held, "") << "it is not about this node";
}

TEST_F(NodeStatesTest, KeepsTheSpecWhereTheStatusLostItsNics) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", two_nics()));
  applied();
  state.set("status", status_of("gpu1", {}));
  EXPECT_EQ(decided().action, Action::kNone);
}

TEST_F(NodeStatesTest, LeavesNodesOfTheSriovOperatorAlone) {
  add(policy("rail0", kFourVfs));
  state = node_state("gpu1", By::kOthers);
  state.set("status", status_of("gpu1", two_nics()));
  const std::string theirs =
      "its node state was written by the SR-IOV operator; label the node railbed.dev/managed=true to take it over";
  NodeDecision decision = decided();
  EXPECT_EQ(decision.action, Action::kNone);
  EXPECT_EQ(decision.held, theirs);
  ASSERT_EQ(decision.outcomes.size(), 1u);
  EXPECT_EQ(decision.outcomes.front().outcome.state, State::kPartly);
  EXPECT_EQ(decision.outcomes.front().outcome.detail, theirs);
  node_object = node("gpu1", {{"gpu", "yes"}, {"railbed.dev/managed", "true"}});
  view.upstream_daemon = true;
  EXPECT_EQ(decided().action, Action::kNone);
  view.upstream_daemon = false;
  applied();
  EXPECT_EQ(decided().action, Action::kNone);
  view.upstream_operator = true;
  node_object = node("gpu1", {{"gpu", "yes"}});
  EXPECT_EQ(decided().held,
            "the SR-IOV operator runs in this cluster; label the node railbed.dev/managed=true to take it over");
}

TEST_F(NodeStatesTest, KeepsAStateForAWhileWithoutItsNode) {
  view.node = nullptr;
  NodeDecision decision = decided();
  EXPECT_EQ(decision.action, Action::kPatch);
  EXPECT_EQ(
      doc::to_json(decision.body),
      R"({"metadata":{"annotations":{"sriovnetwork.openshift.io/keep-state-until":"2026-11-22T15:30:00Z"},"resourceVersion":"7"}})");
  annotate(api::kKeepStateUntil, "2026-11-22T15:30:00Z");
  decision = decided();
  EXPECT_EQ(decision.action, Action::kNone);
  EXPECT_EQ(decision.again, std::chrono::seconds(1801));
  view.now += std::chrono::minutes(30);
  EXPECT_EQ(decided().action, Action::kDelete);
  // It is back, and its state with it.
  view.node = &node_object;
  EXPECT_EQ(
      doc::to_json(decided().body),
      R"({"metadata":{"annotations":{"sriovnetwork.openshift.io/keep-state-until":null},"resourceVersion":"7"}})");
  view.node = nullptr;
  state.find("metadata")->set("labels", Value::object());
  EXPECT_EQ(decided().action, Action::kNone) << "the SR-IOV operator's states are its own";
}

TEST_F(NodeStatesTest, ReportsWhatBecameOfAPolicy) {
  add(policy("rail0", kFourVfs));
  add(policy("rail1", R"("numVfs": 2, "nicSelector": {"pfNames": ["p1"]}, "nodeSelector": {})"));
  state.set("status", status_of("gpu1", two_nics()));
  for (const NodeOutcome& one : applied().outcomes) EXPECT_EQ(one.progress, NodeProgress::kNotYet);
  state.find("metadata")->set("generation", 3);
  Value& status = state.set("status", status_of("gpu1", two_nics(), "Succeeded"));
  for (const NodeOutcome& one : decided().outcomes) EXPECT_EQ(one.progress, NodeProgress::kDone);
  status.set("observedGeneration", 2);
  for (const NodeOutcome& one : decided().outcomes)
    EXPECT_EQ(one.progress, NodeProgress::kNotYet) << "of the spec before";
  status.set("observedGeneration", 3);
  status.set("syncStatus", "Failed");
  status.set("lastSyncError", "p0: ENOSPC");
  for (const NodeOutcome& one : decided().outcomes) EXPECT_EQ(one.error, "p0: ENOSPC");
  status.set("policies", json(R"([{"name":"rail0","state":"Failed","message":"create 4 VFs: ENOSPC"},)"
                              R"({"name":"rail1","state":"Held","message":"pod llm/a has VF 1"}])"));
  const auto outcomes = decided().outcomes;
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[1].outcome.policy, "op/rail0");
  EXPECT_EQ(outcomes[1].progress, NodeProgress::kFailed);
  EXPECT_EQ(outcomes[1].error, "create 4 VFs: ENOSPC");
  EXPECT_EQ(outcomes[0].progress, NodeProgress::kDone);
  EXPECT_EQ(outcomes[0].outcome.state, State::kPartly);
  EXPECT_EQ(outcomes[0].outcome.detail, "pod llm/a has VF 1");
  view.drain = "Evicting: pod llm/a is being evicted";
  EXPECT_EQ(decided().outcomes[0].outcome.detail, "Evicting: pod llm/a is being evicted; pod llm/a has VF 1");
  EXPECT_EQ(decided().outcomes[1].error, "create 4 VFs: ENOSPC") << "it waits for no drain";
}

TEST_F(NodeStatesTest, SaysWhatIsWrongWithAState) {
  state.set("spec", json(R"({"interfaces": [{}]})"));
  EXPECT_EQ(decided().held, "its node state cannot be read: spec.interfaces[0].pciAddress is missing");
}

// What is cut off as it arrives is nothing that a decision needs.
TEST_F(NodeStatesTest, AreTheSameWithoutTheirVfs) {
  add(policy("rail0", kFourVfs));
  state.set("status", status_of("gpu1", {graph::examples::with_vfs(graph::examples::nic("p0", 1), 4),
                                         graph::examples::with_vfs(graph::examples::infiniband("p1", 2), 2)}));
  const std::string whole = doc::to_json(decided().body);
  node_state_trim()(state);
  EXPECT_EQ(doc::to_json(state).find("\"Vfs\""), std::string::npos);
  EXPECT_EQ(doc::to_json(decided().body), whole);
  node_trim()(node_object);
  EXPECT_EQ(doc::to_json(decided().body), whole);
}

}  // namespace
}  // namespace railbed::controller
