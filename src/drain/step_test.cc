// SPDX-License-Identifier: Apache-2.0
#include "drain/step.h"

#include <gtest/gtest.h>

namespace railbed::drain {
namespace {

using Reboot = RebootDecision::Verdict;
using Evicted = EvictionSeen::Answer;

const Time kStart{std::chrono::seconds(1000)};

AffectedPod named_pod(const std::string& name, PodClass kind = PodClass::kEvicted, const std::string& spread = "") {
  return {.ns = "ai",
          .name = name,
          .uid = "uid-" + name,
          .kind = kind,
          .reason = "cannot",
          .unit = "Pod ai/" + name,
          .spread = spread};
}

NodeDrain in_phase(Phase phase) {
  return {.phase = phase, .change = "c", .resources = {"r"}, .slot = true, .since = kStart, .started = kStart};
}

NodeObserved watched(std::vector<AffectedPod> pods = {}) {
  return {
      .now = kStart, .change = "c", .resources = {"r"}, .pods = std::move(pods), .withdrawn = true, .boot_id = "one"};
}

// "Evicting | Evict ai/a uid-a | Evicting!: message"; '!' is a warning.
std::string text_of_step(const Step& step) {
  constexpr const char* kPhases[] = {"Idle", "Withdrawn", "Evicting", "Changing", "Restarting", "Blocked"};
  constexpr const char* kActions[] = {"Withdraw", "Release", "Evict", "Taint", "Untaint", "Restart"};
  std::string actions;
  for (const Action& action : step.actions) {
    actions += fmt::format("{}{}", actions.empty() ? "" : ", ", kActions[static_cast<size_t>(action.kind)]);
    if (!action.resources.empty()) actions += fmt::format(" {}", fmt::join(action.resources, " "));
    if (!action.uid.empty()) actions += fmt::format(" {}", action.uid);
    if (!action.boot_id.empty()) actions += fmt::format(" {}", action.boot_id);
  }
  return fmt::format("{} | {} | {}{}{}{}", kPhases[static_cast<size_t>(step.next.phase)], actions,
                     step.condition.reason, step.condition.warning ? "!" : "",
                     step.condition.message.empty() ? "" : ": ", step.condition.message);
}

TEST(DrainStep, BeginsWithAWithdrawal) {
  NodeObserved seen = watched();
  seen.withdrawn = false;
  EXPECT_EQ(text_of_step(step({}, seen)), "Idle |  | Waiting");
  seen.turn = {.kind = Turn::Kind::kWait, .reason = "waits for kured"};
  EXPECT_EQ(text_of_step(step({}, seen)), "Idle |  | Waiting: waits for kured");
  seen.turn.kind = Turn::Kind::kWithdraw;
  EXPECT_EQ(text_of_step(step({}, seen)), "Withdrawn | Withdraw r | Withdrawn: waits for kured");
  seen.turn = {.kind = Turn::Kind::kChange};
  EXPECT_EQ(text_of_step(step({}, seen)), "Evicting | Withdraw r | Evicting: no pod has to be evicted");
  seen.turn = {.kind = Turn::Kind::kGo, .units = {"Job ai/j"}, .spreads = {"S"}, .slot = true};
  const NodeDrain next = step({}, seen).next;
  EXPECT_EQ(to_text(next), R"({"phase":"Evicting","change":"c","resources":["r"],"units":["Job ai/j"],"spreads":["S"],)"
                           R"("slot":true,"since":1000,"started":1000,"version":1})");
  EXPECT_EQ(*read_node_drain(to_text(next)), next);
  seen.change = "";
  EXPECT_EQ(text_of_step(step({}, seen)), "Idle |  | Idle");
}

TEST(DrainStep, EvictsAfterTheWithdrawalAndChangesAfterTheLastPod) {
  NodeObserved seen = watched({named_pod("a"), named_pod("done", PodClass::kFinished)});
  seen.withdrawn = false;
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kEvicting), seen)),
            "Evicting | Withdraw r | Evicting: waits until the agent has withdrawn the VFs");
  seen.withdrawn = true;
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kEvicting), seen)),
            "Evicting | Evict uid-a | Evicting: pod ai/a is to be evicted");
  seen.turn.not_withdrawn = "n9";
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kEvicting), seen)),
            "Evicting |  | Evicting: waits until node n9 has withdrawn its VFs");
  seen.turn.not_withdrawn = "";
  seen.evictions["uid-a"] = {.answer = Evicted::kAccepted, .at = kStart};
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kEvicting), seen)), "Evicting |  | Evicting: pod ai/a is being evicted");
  seen.pods.erase(seen.pods.begin());
  seen.turn.may_change = false;
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kEvicting), seen)),
            "Evicting |  | Evicting: waits for the other nodes of its groups");
  seen.turn.may_change = true;
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kEvicting), seen)),
            "Changing |  | Changing: the agent applies the change");
  seen.failure = "numvfs: EBUSY";
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kChanging), seen)), "Changing |  | Changing!: numvfs: EBUSY");
  seen.pods = {named_pod("late")};
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kChanging), seen)),
            "Evicting |  | Evicting: pod ai/late is to be evicted");
  seen.change = "";
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kChanging), seen)), "Idle | Release | Idle");
}

TEST(DrainStep, OfAWithdrawnNodeEvictsGroupsOnly) {
  NodeObserved seen = watched({named_pod("a"), named_pod("g")});
  seen.pods[1].unit = "Job ai/g";
  seen.turn = {.kind = Turn::Kind::kWithdraw, .units = {"Job ai/g"}, .reason = "waits for a slot"};
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kWithdrawn), seen)),
            "Withdrawn | Evict uid-g | Evicting: pod ai/g is to be evicted");
  seen.turn = {.kind = Turn::Kind::kWait, .reason = "waits for a slot"};
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kWithdrawn), seen)), "Idle | Release | Waiting: waits for a slot");
}

TEST(DrainStep, EvictsDaemonPodsLastAndOneUnitOfAnOwnerAtATime) {
  NodeObserved seen = watched({named_pod("a", PodClass::kDaemon), named_pod("b", PodClass::kEvicted, "S"),
                               named_pod("c", PodClass::kEvicted, "S"), named_pod("d", PodClass::kEvicted, "T")});
  EXPECT_EQ(step(in_phase(Phase::kEvicting), seen).actions.size(), 2u);  // b and d
  seen.pods = {named_pod("c", PodClass::kEvicted, "S"), named_pod("e", PodClass::kEnding, "S")};
  EXPECT_EQ(step(in_phase(Phase::kEvicting), seen).actions, std::vector<Action>{});
  seen.pods = {named_pod("a", PodClass::kDaemon)};
  EXPECT_EQ(step(in_phase(Phase::kEvicting), seen).actions.size(), 1u);
}

TEST(DrainStep, RepeatsAnEvictionWhenItIsDue) {
  struct Case {
    EvictionSeen seen;
    int after;
    bool is_sent;
    const char* message;
  };
  const BudgetSeen one{.name = "web", .allowed = 0, .healthy = 3, .desired = 3}, two{.name = "all"};
  const Case cases[] = {
      {{.answer = Evicted::kBudget, .at = kStart, .budgets = {one}},
       14,
       false,
       "Evicting: pod ai/a: PodDisruptionBudget web (0 disruptions allowed, 3 of 3 healthy pods required)"},
      {{.answer = Evicted::kBudget, .at = kStart},
       15,
       true,
       "Evicting: pod ai/a: PodDisruptionBudget one that is not known yet"},
      {{.answer = Evicted::kTwoBudgets, .at = kStart, .budgets = {one, two}},
       15,
       false,
       "Evicting!: pod ai/a cannot be evicted, because more than one PodDisruptionBudget selects it: web (0 disruptions "
       "allowed, 3 of 3 healthy pods required), all (0 disruptions allowed, 0 of 0 healthy pods required); delete all "
       "but one"},
      {{.answer = Evicted::kTwoBudgets, .at = kStart},
       300,
       true,
       "Evicting!: pod ai/a cannot be evicted, because more than one PodDisruptionBudget selects it: one that is not "
       "known yet; delete all but one"},
      {{.answer = Evicted::kRefused, .at = kStart, .text = "migrates"},
       20,
       true,
       "Evicting!: pod ai/a: the eviction was refused: migrates"},
      {{.answer = Evicted::kEnded, .at = kStart}, 5, false, "Evicting: pod ai/a is being evicted"},
  };
  for (const Case& one_case : cases) {
    NodeObserved seen = watched({named_pod("a")});
    seen.now = kStart + std::chrono::seconds(one_case.after);
    seen.evictions["uid-a"] = one_case.seen;
    EXPECT_EQ(text_of_step(step(in_phase(Phase::kEvicting), seen)),
              fmt::format("Evicting | {} | {}", one_case.is_sent ? "Evict uid-a" : "", one_case.message));
  }
  EXPECT_EQ(eviction_answer(201, false, ""), Evicted::kAccepted);
  EXPECT_EQ(eviction_answer(429, true, ""), Evicted::kBudget);
  EXPECT_EQ(eviction_answer(429, false, "a webhook"), Evicted::kRefused);
  EXPECT_EQ(eviction_answer(500, false,
                            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
                            "support."),
            Evicted::kTwoBudgets);
  EXPECT_EQ(eviction_answer(500, false, "etcd"), Evicted::kRefused);
  EXPECT_EQ(eviction_answer(404, false, ""), Evicted::kEnded);
  EXPECT_EQ(eviction_answer(409, false, ""), Evicted::kEnded);
}

TEST(DrainStep, GivesUpAfterTheTimeLimitWithTheReason) {
  NodeObserved seen = watched({named_pod("a", PodClass::kEnding)});
  seen.pods[0].reason = "is being deleted; waits for its finalizers x";
  seen.pods[0].finalizers = {"x"};
  EXPECT_TRUE(step(in_phase(Phase::kEvicting), seen).condition.warning);
  seen.now += std::chrono::seconds(900);
  const Step given_up = step(in_phase(Phase::kEvicting), seen);
  EXPECT_EQ(
      text_of_step(given_up),
      "Blocked | Release | Blocked!: not done after 900 s: pod ai/a is being deleted; waits for its finalizers x");
  EXPECT_FALSE(given_up.next.slot);
  EXPECT_EQ(
      text_of_step(step(given_up.next, seen)),  // the agent has not released yet
      "Blocked | Release | Blocked!: not done after 900 s: pod ai/a is being deleted; waits for its finalizers x");
  seen.turn.kind = Turn::Kind::kGo;
  EXPECT_EQ(step(given_up.next, seen).next.phase, Phase::kEvicting);
  seen.change = "";
  EXPECT_EQ(text_of_step(step(given_up.next, seen)), "Idle | Release | Idle");
}

TEST(DrainStep, RestartsATaintedNodeOnce) {
  NodeObserved seen = watched();
  seen.applied = true;
  seen.restart = {.verdict = Reboot::kReboot, .message = "the node restarts once"};
  EXPECT_EQ(step(in_phase(Phase::kEvicting), seen).actions[0].kind, Action::Kind::kTaint);
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kChanging), seen)),
            "Changing | Taint | Changing: the node is tainted before it restarts");
  seen.tainted = true;
  const NodeDrain restarting = step(in_phase(Phase::kChanging), seen).next;
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kChanging), seen)),
            "Restarting | Restart one | Restarting: the node restarts once");
  EXPECT_EQ(text_of_step(step(restarting, seen)), "Restarting | Restart one | Restarting: the node restarts once");
  seen.boot_id = "two";
  EXPECT_EQ(text_of_step(step(restarting, seen)),
            "Restarting |  | Restarting: the node has restarted; the agent confirms the change");
  seen.restart = {.verdict = Reboot::kNotEffective, .message = "no IOMMU group"};
  EXPECT_EQ(text_of_step(step(restarting, seen)), "Blocked | Release, Untaint | NotEffective!: no IOMMU group");
  seen.change = "";
  EXPECT_EQ(text_of_step(step(restarting, seen)), "Idle | Release, Untaint | Idle");
}

TEST(DrainStep, OfANodeThatMayNotRestart) {
  NodeObserved seen = watched();
  seen.applied = true;
  seen.restart = {.verdict = Reboot::kNotAllowed, .message = "not allowed"};
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kChanging), seen)), "Blocked | Release | NotAllowedHere!: not allowed");
  EXPECT_EQ(held_by({}, seen.restart), "not allowed");
  EXPECT_EQ(held_by(in_phase(Phase::kChanging), seen.restart), "");
  EXPECT_EQ(held_by({}, {.verdict = Reboot::kReboot, .message = "restarts"}), "");
  seen.restart = {.verdict = Reboot::kWaits, .message = "waits for the restart budget"};
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kChanging), seen)),
            "Changing |  | Waiting: waits for the restart budget");
  seen.now += std::chrono::seconds(900);
  EXPECT_EQ(text_of_step(step(in_phase(Phase::kRestarting), seen)),
            "Blocked | Release | Blocked!: not done after 900 s: the change is not in place after the restart");
}

TEST(DrainStep, ANodeAtRestLosesAnOrphanedTaintAndWithdrawal) {
  NodeObserved seen = watched();
  seen.change = "";
  seen.tainted = true;
  EXPECT_EQ(text_of_step(step({}, seen)), "Idle | Release, Untaint | Idle");
}

TEST(DrainState, OfOthersIsRefusedWithTheField) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "annotation"},
      {"{", "annotation"},
      {R"({"phase": "Idle"})", "version"},
      {R"({"version": 1})", "phase"},
      {R"({"version": 1, "phase": "Flying"})", "phase"},
      {R"({"version": 0, "phase": "Idle"})", "version"},
      {R"({"version": 1, "phase": "Evicting", "since": -1})", "since"},
      {R"({"version": 1, "phase": "Evicting", "units": [1]})", "units"},
      {R"({"version": 2, "phase": "Evicting"})", "version 2 is later than 1"},
  };
  for (const auto& [text, word] : cases) {
    const auto read = read_node_drain(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_TRUE(read.error().to_string().find(word) != std::string::npos || word == std::string_view("annotation"))
        << text << ": " << read.error().to_string();
  }
  EXPECT_EQ(*read_node_drain(""), NodeDrain{});
  EXPECT_EQ(to_text(NodeDrain{}), "");
}

}  // namespace
}  // namespace railbed::drain
