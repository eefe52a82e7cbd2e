// SPDX-License-Identifier: Apache-2.0
// Drains with the whole operator: test_operator.h. Agents and the ends of pods are played by the tests.
#include "controller/drains.h"

#include <algorithm>
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/test_operator.h"
#include "doc/members.h"
#include "kube/object.h"

namespace railbed::controller {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

struct DrainsTest : OperatorTest {
  static constexpr const char* kOurs = "openshift.io/rail0";
  std::atomic<bool> pods_end{true};

  static std::string config_at() {
    return "/apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovoperatorconfigs/default";
  }
  void put_config(const std::string& spec = "{}") {
    Value config = object("sriovnetwork.openshift.io/v1", "SriovOperatorConfig", "op", "default");
    config.set("spec", json(spec));
    world.server.put(config_at(), std::move(config));
  }
  static std::string pod_at(const std::string& name) { return "/api/v1/namespaces/llm/pods/" + name; }
  // One of a ReplicaSet of its own, so that only the pool's bound counts.
  void put_pod(const std::string& name, const std::string& node, const std::string& resource = kOurs) {
    Value pod = object("v1", "Pod", "llm", name);
    pod.find("metadata")
        ->set(
            "ownerReferences",
            json(fmt::format(
                R"([{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "{0}", "uid": "rs-{0}", "controller": true}}])",
                name)));
    pod.set("spec",
            json(fmt::format(
                R"({{"nodeName": "{}", "containers": [{{"name": "c", "resources": {{"requests": {{"{}": "1"}}}}}}]}})",
                node, resource)));
    pod.set("status", json(R"({"phase": "Running"})"));
    world.server.put(pod_at(name), std::move(pod));
  }
  std::string annotation(const std::string& node, std::string_view name) {
    const Value state = world.stored(state_path(node));
    return kube::annotation_of(state, name);
  }
  void annotate(const std::string& node, std::string_view name, const std::string& text) {
    Value state = world.stored(state_path(node));
    Value& meta = *state.find("metadata");
    Value annotations = meta.find("annotations") != nullptr ? *meta.find("annotations") : Value::object();
    annotations.set(name, text);
    meta.set("annotations", std::move(annotations));
    world.server.put(state_path(node), std::move(state));
  }
  void report_policy(const std::string& node, api::NodeStatePolicy::State state, const std::string& message) {
    Value stored = world.stored(state_path(node));
    api::SriovNetworkNodeState status;
    status.nics = graph::found_nics(graph::examples::node(node, two_nics()));
    status.sync_status = state == api::NodeStatePolicy::State::kApplied ? "Succeeded" : "InProgress";
    status.observed_generation = 1;
    status.policies = {{.name = "rail0", .state = state, .message = message}};
    stored.find("metadata")->set("generation", 1);
    stored.set("status", api::node_state_status(status));
    world.server.put(state_path(node), std::move(stored));
  }
  // The agent of the node has VFs in use that the policy changes.
  void hold(const std::string& node) {
    expect("its spec has the policy", [&] { return world.has_vfs(node, 4); });
    report_policy(node, api::NodeStatePolicy::State::kHeld, "p0: 4 VFs instead of 2: deferred, llm/x uses it");
  }
  // Nodes with a change that waits, and one pod each: "pod-NODE".
  void held_nodes(const std::vector<std::string>& nodes) {
    for (const std::string& node : nodes) node_with_nics(node);
    world.put(policy("rail0", kP0));
    for (const std::string& node : nodes) put_pod("pod-" + node, node);
    for (const std::string& node : nodes) hold(node);
  }
  drain::NodeDrain drain_of(const std::string& node) {
    const Result<drain::NodeDrain> read = drain::read_node_drain(annotation(node, drain::kDrainAnnotation));
    return read.value_or(drain::NodeDrain{});
  }
  // What the agent of a node does: it withdraws what the order names, and applies the change when its turn comes.
  void play_agent(const std::string& node) {
    const drain::NodeDrain order = drain_of(node);
    drain::AgentReport report;
    if (!order.resources.empty()) report = {.change = order.change, .withdrawn = order.resources};
    const std::string text = drain::to_text(report);
    if (annotation(node, drain::kReportAnnotation) != text) annotate(node, drain::kReportAnnotation, text);
    if (order.phase == drain::Phase::kChanging) report_policy(node, api::NodeStatePolicy::State::kApplied, "");
  }
  // And kubelets: pods that are being deleted end.
  void play(const std::vector<std::string>& nodes) {
    for (const std::string& node : nodes) play_agent(node);
    if (!pods_end) return;
    for (const auto& [path, one] : world.server.objects())
      if (path.find("/pods/") != std::string::npos && kube::is_being_deleted(one)) world.server.erase(path);
  }
  bool is_done(const std::string& node) {
    return annotation(node, drain::kDrainAnnotation).empty() &&
           doc::to_json(world.stored(state_path(node))).find(R"("Held")") == std::string::npos;
  }
  void expect_played(const std::string& what, const std::vector<std::string>& nodes,
                     const std::function<bool()>& holds) {
    expect(what, [&] {
      play(nodes);
      return holds();
    });
  }
  int evictions_of(const std::string& pod) {
    const std::vector<std::string> all = world.server.requests();
    return static_cast<int>(std::ranges::count(all, fmt::format("POST {}/eviction", pod_at(pod))));
  }
  int evictions() {
    int out = 0;
    for (const std::string& request : world.server.requests())
      out += request.starts_with("POST /api/v1/namespaces/llm/pods/") && request.ends_with("/eviction");
    return out;
  }
  std::string policy_status_text() { return doc::to_json(world.stored(policy_path("rail0"))); }
};

TEST_F(DrainsTest, EvictExactlyThePodsOfTheChangeOnce) {
  put_config();
  start();
  held_nodes({"gpu1"});
  node_with_nics("gpu2");
  put_pod("same-resource-elsewhere", "gpu2");
  put_pod("another-resource", "gpu1", "openshift.io/rail7");
  put_pod("no-vfs", "gpu1", "cpu");
  expect_played("the change is applied", {"gpu1"}, [&] { return is_done("gpu1"); });
  EXPECT_EQ(evictions_of("pod-gpu1"), 1);
  EXPECT_EQ(evictions(), 1);
  EXPECT_EQ(annotation("gpu1", kDrainCondition), "");
  expect_event("Evicting: ");
  // What is decided is stored before it is carried out.
  const std::vector<std::string> all = world.server.requests();
  const auto eviction = std::ranges::find(all, fmt::format("POST {}/eviction", pod_at("pod-gpu1")));
  EXPECT_GE(
      std::count_if(all.begin(), eviction, [](const std::string& one) { return one == "PATCH " + state_path("gpu1"); }),
      1);
}

TEST_F(DrainsTest, NothingIsEvictedUnlessSomebodyAskedForIt) {
  start();
  held_nodes({"gpu1"});
  expect_stays("its pod", [&] { return evictions() == 0 && annotation("gpu1", drain::kDrainAnnotation).empty(); });
  EXPECT_THAT(policy_status_text(), Not(HasSubstr("Drain")));
  put_config();
  expect_played("with a configuration it goes", {"gpu1"}, [&] { return is_done("gpu1"); });
}

TEST_F(DrainsTest, AnOptionIsAnOrderToo) {
  world.drains.wanted = true;
  start();
  held_nodes({"gpu1"});
  expect_played("it goes", {"gpu1"}, [&] { return is_done("gpu1"); });
}

TEST_F(DrainsTest, DisableDrainGoesBeforeTheOptionAndEndsWhatIsInProgress) {
  world.drains.wanted = true;
  start();
  held_nodes({"gpu1"});
  // Its agent withdraws nothing yet.
  expect("it begins", [&] { return drain_of("gpu1").phase == drain::Phase::kEvicting; });
  put_config(R"({"disableDrain": true})");
  expect("its VFs are offered again", [&] { return annotation("gpu1", drain::kDrainAnnotation).empty(); });
  expect("the policy says why it waits", [&] {
    return policy_status_text().find(
               "DrainDisabled: SriovOperatorConfig op/default has disableDrain: no pod is "
               "evicted") != std::string::npos;
  });
  expect_stays("its pod", [&] { return evictions() == 0; });
}

TEST_F(DrainsTest, WithoutTheRightNoVfIsWithdrawn) {
  world.server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (!request.target.ends_with("/eviction")) return std::nullopt;
    return kube::refused(request.to_string(), 403,
                         R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no"})");
  };
  put_config();
  start();
  held_nodes({"gpu1"});
  expect_event("DrainsForbidden: changes wait for pods, and this operator may not evict any");
  expect_stays("nothing begins", [&] { return annotation("gpu1", drain::kDrainAnnotation).empty(); });
  expect("the policy says so", [&] { return policy_status_text().find("DrainsForbidden") != std::string::npos; });
  EXPECT_EQ(evictions(), 0);
}

TEST_F(DrainsTest, ABudgetIsWaitedForAndNamed) {
  std::atomic<bool> allowed{false};
  world.server.budget = [&](const std::string&) {
    return allowed ? "" : "The disruption budget web needs 2 healthy pods and has 1 currently";
  };
  put_config();
  start();
  held_nodes({"gpu1"});
  const std::string why =
      "pod llm/pod-gpu1: PodDisruptionBudget web (0 disruptions allowed, 2 of 1 healthy pods required)";
  expect_played("the node state names it", {"gpu1"},
                [&] { return annotation("gpu1", kDrainCondition) == "Evicting: " + why; });
  expect_event("EvictionRefused: " + why);
  expect("and the policy", [&] { return policy_status_text().find(why) != std::string::npos; });
  expect("it is tried again", [&] { return evictions_of("pod-gpu1") >= 3; });
  EXPECT_FALSE(world.stored(pod_at("pod-gpu1")).is_null());
  allowed = true;
  expect_played("it goes", {"gpu1"}, [&] { return is_done("gpu1"); });
  expect("the policy is applied",
         [&] { return policy_status_text().find("PodDisruptionBudget") == std::string::npos; });
  world.server.budget = nullptr;
}

TEST_F(DrainsTest, AnotherOperatorGoesOnWhereOneWasKilled) {
  std::atomic<bool> lost{true};
  std::atomic<int> tried{0};
  world.server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (!request.target.ends_with("/pod-gpu1/eviction") || !lost) return std::nullopt;
    ++tried;
    return kube::unanswered(Code::kIo, kube::Delivery::kUnknown, "the connection was cut");
  };
  put_config();
  start("first");
  held_nodes({"gpu1"});
  expect_played("the first one has stored what it does", {"gpu1"}, [&] { return tried > 0; });
  EXPECT_EQ(drain_of("gpu1").phase, drain::Phase::kEvicting);
  running.reset();
  EXPECT_FALSE(kube::is_being_deleted(world.stored(pod_at("pod-gpu1"))));
  const drain::NodeDrain before = drain_of("gpu1");
  lost = false;
  const int made = evictions_of("pod-gpu1");
  start("second");
  expect_played("the second one evicts", {}, [&] { return evictions_of("pod-gpu1") > made; });
  EXPECT_EQ(drain_of("gpu1").started, before.started) << "its time limit goes on";
  expect_played("the change is applied", {"gpu1"}, [&] { return is_done("gpu1"); });
  EXPECT_EQ(evictions_of("pod-gpu1"), made + 1);
  world.server.before = nullptr;
}

TEST_F(DrainsTest, APodThatReplacesAnotherOfTheSameNameIsNotEvicted) {
  std::atomic<bool> replaced{false};
  world.server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (!request.target.ends_with("/pod-gpu1/eviction") || replaced.exchange(true)) return std::nullopt;
    world.server.erase(pod_at("pod-gpu1"));  // between the look and the request
    put_pod("pod-gpu1", "elsewhere");
    return std::nullopt;
  };
  put_config();
  start();
  held_nodes({"gpu1"});
  expect_played("the change is applied", {"gpu1"}, [&] { return is_done("gpu1"); });
  EXPECT_EQ(evictions_of("pod-gpu1"), 1) << "refused by its uid";
  EXPECT_FALSE(world.stored(pod_at("pod-gpu1")).is_null());
  EXPECT_FALSE(kube::is_being_deleted(world.stored(pod_at("pod-gpu1"))));
  world.server.before = nullptr;
}

TEST_F(DrainsTest, OneNodeAtATimeWithoutAPool) {
  put_config();
  start();
  const std::vector<std::string> nodes{"gpu1", "gpu2", "gpu3"};
  held_nodes(nodes);
  std::ptrdiff_t most = 0;
  expect_played("all are done", nodes, [&] {
    most = std::max(most, std::ranges::count_if(nodes, [&](const std::string& node) {
                      return drain::is_active(drain_of(node)) && drain_of(node).slot;
                    }));
    return std::ranges::all_of(nodes, [&](const std::string& node) { return is_done(node); });
  });
  EXPECT_EQ(most, 1);
  for (const std::string& node : nodes) EXPECT_EQ(evictions_of("pod-" + node), 1) << node;
}

TEST_F(DrainsTest, AStateThatCannotBeReadIsLeftAloneAndCounts) {
  put_config();
  start();
  node_with_nics("gpu1");
  annotate("gpu1", drain::kDrainAnnotation, R"({"version": 9, "phase": "Evicting"})");
  held_nodes({"gpu1", "gpu2"});
  expect_event(
      "DrainStateUnreadable: the annotation railbed.dev/drain cannot be read: railbed.dev/drain: version 9 is "
      "later than 1, the last that is known");
  EXPECT_TRUE(world.stays([&] {
    play_agent("gpu2");
    return evictions() == 0;
  }));
  expect("the other node waits for it", [&] {
    return annotation("gpu2", kDrainCondition).find("gpu1 (maintained by a drain whose stored state cannot be read)") !=
           std::string::npos;
  });
  EXPECT_EQ(annotation("gpu1", drain::kDrainAnnotation), R"({"version": 9, "phase": "Evicting"})");
  annotate("gpu1", drain::kDrainAnnotation, "");
  expect_played("both go", {"gpu1", "gpu2"}, [&] { return is_done("gpu1") && is_done("gpu2"); });
}

TEST_F(DrainsTest, ACordonOfAnAdministratorCountsAndStays) {
  Value cordoned = node("gpu2");
  cordoned.set("spec", json(R"({"unschedulable": true})"));
  world.server.put(node_path("gpu2"), cordoned);
  put_config();
  start();
  held_nodes({"gpu1"});
  EXPECT_TRUE(world.stays([&] {
    play_agent("gpu1");
    return evictions() == 0;
  }));
  EXPECT_THAT(annotation("gpu1", kDrainCondition), HasSubstr("1 of 1 in use: gpu2 (cordoned since "));
  EXPECT_EQ(world.writes_of(node_path("gpu2")), 0);
  world.put_node("gpu2");
  expect_played("it goes", {"gpu1"}, [&] { return is_done("gpu1"); });
}

// A token of a node may say what it likes: only pods of that node with VFs of its spec can be evicted by it.
TEST_F(DrainsTest, AForgedReportEvictsNothingElsewhere) {
  put_config();
  start();
  node_with_nics("gpu1");
  node_with_nics("gpu2");
  world.put(policy("rail0", kP0));
  put_pod("victim", "gpu2");
  put_pod("other-resource", "gpu1", "openshift.io/rail7");
  expect("its spec has the policy", [&] { return world.has_vfs("gpu1", 4); });
  report_policy("gpu1", api::NodeStatePolicy::State::kHeld, "llm/victim and llm/other-resource use it");
  expect("it says that no pod is in the way", [&] {
    return annotation("gpu1", kDrainCondition) ==
           "Waiting: no pod requests openshift.io/rail0, and yet VFs that change are in use: the agent's Event "
           "ChangeHeldBack names who uses them";
  });
  expect_stays("nothing is withdrawn or evicted",
               [&] { return evictions() == 0 && annotation("gpu1", drain::kDrainAnnotation).empty(); });
}

}  // namespace
}  // namespace railbed::controller
