// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_inputs.h"

#include <gtest/gtest.h>

#include "controller/test_cluster.h"
#include "kube/object.h"

namespace railbed::controller {
namespace {

using namespace testing;
using EvictionAnswer = drain::EvictionSeen::Answer;

constexpr const char* kTwoPfs = R"({"interfaces": [
  {"pciAddress": "0000:01:00.0", "name": "p0", "numVfs": 8, "vfGroups": [
    {"policyName": "a", "resourceName": "ra", "vfRange": "0-3"}, {"policyName": "b", "resourceName": "rb", "vfRange": "4-7"}]},
  {"pciAddress": "0000:02:00.0", "name": "p1", "numVfs": 2, "vfGroups": [
    {"policyName": "a", "resourceName": "rc", "vfRange": "0-1"}]}]})";

api::SriovNetworkNodeState state_with(const std::string& status) {
  Value out = node_state("gpu1");
  out.find("metadata")->set("generation", 7);
  out.set("spec", json(kTwoPfs));
  out.set("status", json(status));
  doc::Diagnostics found;
  return api::parse_node_state(out, found).value_or(api::SriovNetworkNodeState{});
}

std::string nics_with(int vfs_of_p0) {
  return fmt::format(R"("interfaces": [{{"pciAddress": "0000:01:00.0", "name": "p0", "numVfs": {}}},
                                       {{"pciAddress": "0000:02:00.0", "name": "p1", "numVfs": 2}}])",
                     vfs_of_p0);
}

TEST(WaitingChange, ConcernsTheResourcesOfPoliciesThatAreHeld) {
  const auto change = [](int generation, const std::string& policies, int vfs_of_p0) {
    return waiting_change(state_with(fmt::format(R"({{"observedGeneration": {}, "policies": [{}], {}}})", generation,
                                                 policies, nics_with(vfs_of_p0))),
                          "openshift.io");
  };
  const std::string a_is_held = R"({"name": "a", "state": "Held"}, {"name": "b", "state": "Applied"})";
  const std::string b_is_held = R"({"name": "a", "state": "Applied"}, {"name": "b", "state": "Held"})";
  EXPECT_EQ(change(7, b_is_held, 8), (WaitingChange{true, "generation 7", {"openshift.io/rb"}})) << "its VFs alone";
  EXPECT_EQ(change(7, b_is_held, 4), (WaitingChange{true, "generation 7", {"openshift.io/ra", "openshift.io/rb"}}))
      << "all VFs of the PF are made again";
  EXPECT_EQ(change(7, a_is_held, 8), (WaitingChange{true, "generation 7", {"openshift.io/ra", "openshift.io/rc"}}));
  EXPECT_EQ(change(6, a_is_held, 8), (WaitingChange{false, "", {}})) << "of an earlier spec";
  EXPECT_EQ(change(0, a_is_held, 8), (WaitingChange{false, "", {}})) << "not reported, or pruned";
  EXPECT_EQ(change(7, R"({"name": "a", "state": "Applied"})", 4), (WaitingChange{true, "", {}}));
  EXPECT_EQ(change(7, R"({"name": "a", "state": "Failed", "message": "x"})", 4), (WaitingChange{true, "", {}}));
  EXPECT_EQ(change(7, R"({"name": "forged", "state": "Held"})", 4), (WaitingChange{true, "", {}}))
      << "a policy that the spec does not name";
}

TEST(WaitingChange, IsLookedForWhereItCanBe) {
  Value state = node_state("gpu1");
  EXPECT_FALSE(may_concern_drains(state));
  state.set("status", json(R"({"policies": [{"name": "a", "state": "Applied"}]})"));
  EXPECT_FALSE(may_concern_drains(state));
  state.set("status", json(R"({"policies": [{"name": "a", "state": "Applied"}, {"name": "b", "state": "Held"}]})"));
  EXPECT_TRUE(may_concern_drains(state));
  state.set("status", json("{}"));
  state.find("metadata")->set("annotations", json(R"({"railbed.dev/drain": "x"})"));
  EXPECT_TRUE(may_concern_drains(state));
}

TEST(NodeHealth, SaysWhatCountsAgainstABound) {
  EXPECT_EQ(node_health(node("n")), NodeHealth{});
  Value down = node("n", {{"nvidia.com/gpu-driver-upgrade-state", "drain-required"}});
  down.set("spec",
           json(R"({"unschedulable": true, "taints": [{"key": "railbed.dev/reboot", "effect": "NoSchedule"}]})"));
  down.set("status", json(R"({"conditions": [{"type": "MemoryPressure", "status": "False"},
      {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-03-01T10:20:30Z"}]})"));
  const NodeHealth health = node_health(down);
  EXPECT_FALSE(health.ready);
  EXPECT_TRUE(health.cordoned);
  EXPECT_TRUE(health.tainted);
  EXPECT_EQ(drain::time_text(health.not_ready), "2026-03-01T10:20:30Z");
  EXPECT_EQ(health.others, std::vector<std::string>{"the driver upgrade of the NVIDIA GPU operator"});
}

TEST(WhyNoDrains, DrainsNeedAnObjectOrAnOption) {
  using Source = ConfigChoice::Source;
  ConfigChoice config;
  EXPECT_EQ(why_no_drains(config, false), "") << "as before there were any";
  EXPECT_EQ(why_no_drains(config, true), std::nullopt);
  config = {.source = Source::kStored, .key = "op/default", .config = {}, .problem = ""};
  EXPECT_EQ(why_no_drains(config, false), std::nullopt);
  for (const Source unsure : {Source::kGone, Source::kUnreadable}) {
    config.source = unsure;
    EXPECT_EQ(why_no_drains(config, false), "");
  }
  config.config.disable_drain = true;
  for (const bool wanted : {false, true})
    EXPECT_EQ(why_no_drains(config, wanted),
              "DrainDisabled: SriovOperatorConfig op/default has disableDrain: no pod is evicted");
}

TEST(DrainPools, HaveTheirBoundsAndAnnotations) {
  api::SriovNetworkPoolConfig pool;
  EXPECT_EQ(drain_pool(pool).bound, drain::Bound{}) << "no limit";
  pool.max_unavailable = api::MaxUnavailable{.number = 2, .percent = false};
  EXPECT_EQ(drain_pool(pool).bound, (drain::Bound{.number = 2, .percent = {}}));
  pool.max_unavailable = api::MaxUnavailable{.number = 10, .percent = true};
  EXPECT_EQ(drain_pool(pool).bound, (drain::Bound{.number = {}, .percent = 10}));
  EXPECT_FALSE(evicts_bare_pods(pool));
  EXPECT_EQ(drain_pool(pool).ignore_unavailable_after, std::nullopt);
  pool.meta.annotations["railbed.dev/evict-bare"].value = Value("true");
  pool.meta.annotations["railbed.dev/ignore-unavailable-after"].value = Value("24h");
  EXPECT_TRUE(evicts_bare_pods(pool));
  EXPECT_EQ(drain_pool(pool).ignore_unavailable_after, std::chrono::hours(24));
  pool.meta.annotations["railbed.dev/evict-bare"].value = Value("yes");
  pool.meta.annotations["railbed.dev/ignore-unavailable-after"].value = Value("a day");
  EXPECT_FALSE(evicts_bare_pods(pool));
  EXPECT_EQ(drain_pool(pool).ignore_unavailable_after, std::nullopt) << "what cannot be read is no order";
}

kube::Answer<void> refused_with(int status, const std::string& message, const std::string& cause = "") {
  Value body = Value::object();
  body.set("kind", "Status");
  body.set("code", status);
  body.set("message", message);
  if (!cause.empty()) {
    Value one = Value::object();
    one.set("reason", "DisruptionBudget");
    one.set("message", cause);
    body.set("details", Value::object()).set("causes", Value::array()).push(std::move(one));
  }
  return kube::no_answer(kube::refused("POST x", status, doc::to_json(body)));
}

TEST(EvictionAnswers, AreUnderstood) {
  const drain::Time now{std::chrono::seconds(100)};
  const auto answer = [&](const kube::Answer<void>& given) { return eviction_seen(given, now); };
  EXPECT_EQ(answer({}), (drain::EvictionSeen{.answer = EvictionAnswer::kAccepted, .at = now}));
  const drain::EvictionSeen budget =
      answer(refused_with(429, "Cannot evict", "The disruption budget web needs 2 healthy pods and has 1 currently"));
  EXPECT_EQ(budget.answer, EvictionAnswer::kBudget);
  EXPECT_EQ(budget.budgets,
            (std::vector<drain::BudgetSeen>{{.name = "web", .allowed = 0, .healthy = 1, .desired = 2}}));
  const drain::EvictionSeen other =
      answer(refused_with(429, "Cannot evict", "The disruption budget web is still being processed by the server."));
  EXPECT_EQ(other.answer, EvictionAnswer::kRefused) << "other words are shown as they are";
  EXPECT_EQ(other.text, "The disruption budget web is still being processed by the server.");
  EXPECT_EQ(answer(refused_with(429, "slow down")).answer, EvictionAnswer::kRefused);
  EXPECT_EQ(answer(refused_with(403, "no")).answer, EvictionAnswer::kRefused);
  EXPECT_EQ(answer(refused_with(500, "This pod has more than one PodDisruptionBudget, which …")).answer,
            EvictionAnswer::kTwoBudgets);
  for (const int status : {404, 409}) EXPECT_EQ(answer(refused_with(status, "gone")).answer, EvictionAnswer::kEnded);
  EXPECT_EQ(answer(kube::no_answer(kube::unanswered(Code::kTimeout, kube::Delivery::kUnknown, "x"))).answer,
            EvictionAnswer::kSent);
}

TEST(TaintPatch, ChangesRailbedsOwnTaintOnly) {
  Value one = node("n");
  one.find("metadata")->set("resourceVersion", "5");
  EXPECT_EQ(taint_patch(one, false), std::nullopt);
  EXPECT_EQ(
      doc::to_json(*taint_patch(one, true)),
      R"({"metadata":{"resourceVersion":"5"},"spec":{"taints":[{"key":"railbed.dev/reboot","effect":"NoSchedule"}]}})");
  one.set("spec", json(R"({"taints": [{"key": "railbed.dev/reboot", "effect": "NoSchedule"}]})"));
  EXPECT_EQ(doc::to_json(*taint_patch(one, false)), R"({"metadata":{"resourceVersion":"5"},"spec":{"taints":null}})");
  EXPECT_EQ(taint_patch(one, true), std::nullopt);
  one.set("spec", json(R"({"taints": [{"key": "mine", "value": "x", "effect": "NoExecute"},
                                      {"key": "railbed.dev/reboot", "effect": "NoSchedule"}]})"));
  EXPECT_EQ(
      doc::to_json(*taint_patch(one, false)),
      R"({"metadata":{"resourceVersion":"5"},"spec":{"taints":[{"key":"mine","value":"x","effect":"NoExecute"}]}})");
}

TEST(DrainPatch, WritesWhatIsNew) {
  Value state = node_state("gpu1");
  EXPECT_EQ(drain_patch(state, "", ""), std::nullopt);
  state.find("metadata")->set("annotations", json(R"({"railbed.dev/drain": "old", "other": "stays"})"));
  EXPECT_EQ(drain_patch(state, "old", ""), std::nullopt);
  EXPECT_EQ(doc::to_json(*drain_patch(state, "new", "Evicting: x")),
            R"({"metadata":{"annotations":{"railbed.dev/drain":"new","railbed.dev/drain-condition":"Evicting: x"},)"
            R"("resourceVersion":"7"}})");
  EXPECT_EQ(doc::to_json(*drain_patch(state, "", "")),
            R"({"metadata":{"annotations":{"railbed.dev/drain":null},"resourceVersion":"7"}})");
}

// A thousand nodes that wait would be written each time that one of them gets its slot.
TEST(DrainPatch, OtherWordsForTheSameWaitAreNoNews) {
  drain::Step step{.next = {}, .actions = {}, .condition = {.reason = "Waiting", .message = "for n1"}};
  EXPECT_EQ(condition_text(step, ""), "Waiting: for n1");
  EXPECT_EQ(condition_text(step, "Waiting: for n2"), "Waiting: for n2");
  EXPECT_EQ(condition_text(step, "Evicting: pod"), "Waiting: for n1");
  step.condition.warning = true;
  EXPECT_EQ(condition_text(step, "Waiting: for n2"), "Waiting: for n1");
  step.next.phase = drain::Phase::kEvicting;
  step.condition = {.reason = "Evicting", .message = "b"};
  EXPECT_EQ(condition_text(step, "Evicting: a"), "Evicting: b");
  step.condition.message.clear();
  EXPECT_EQ(condition_text(step, "Evicting: a"), "");
}

}  // namespace
}  // namespace railbed::controller
