// SPDX-License-Identifier: Apache-2.0
// The next step of one node's drain.
//
// Why: an operator may be killed anywhere, and two may run for a moment. So the next step is a function of what is
// stored and what is observed, and each action may be carried out again without harm. The caller stores `next` first
// and carries out `actions` then; a call with the stored state and the same observation gives the same actions.
// VFs are withdrawn before the first eviction, so that no replacement arrives; nothing is cordoned, because a cordon
// does not say whose it is. Before a restart the node gets a taint of railbed's own, and only that is removed.
// Spec: policy/v1 Eviction: 201 means accepted, not ended; 429 a budget or a webhook; 500 two budgets; 404 and 409 the
// pod ended.
// Threading: pure functions over values.
// Failure: none; what blocks is in the condition.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "drain/pods.h"
#include "drain/reboot.h"
#include "drain/state.h"

namespace railbed::drain {

// Key of the taint before a restart; its effect is NoSchedule.
inline constexpr std::string_view kRestartTaint = "railbed.dev/reboot";

// A PodDisruptionBudget that selects a pod.
struct BudgetSeen {
  std::string name;
  int allowed = 0;  // status.disruptionsAllowed
  int healthy = 0;  // currentHealthy
  int desired = 0;  // desiredHealthy
  friend bool operator==(const BudgetSeen&, const BudgetSeen&) = default;
};

// The last answer to an eviction of a pod. The caller remembers it; if it is lost, the eviction is sent again.
struct EvictionSeen {
  enum class Answer : uint8_t {
    kSent,        // no answer yet
    kAccepted,    // 201
    kBudget,      // 429 with the cause DisruptionBudget
    kRefused,     // 429 of a webhook, or another refusal: `text`
    kTwoBudgets,  // 500: more than one PodDisruptionBudget selects the pod
    kEnded,       // 404, or 409 with another uid
  };
  Answer answer = Answer::kSent;
  Time at = {};
  std::vector<BudgetSeen> budgets = {};
  std::string text = {};
  friend bool operator==(const EvictionSeen&, const EvictionSeen&) = default;
};
// By the HTTP status, and whether the cause DisruptionBudget is in the body.
EvictionSeen::Answer eviction_answer(int http_status, bool names_budget, std::string_view message);

struct DrainLimits {
  std::chrono::seconds per_node{900};     // from its slot to its end
  std::chrono::seconds between{15};       // two evictions of a pod
  std::chrono::seconds two_budgets{300};  // the same, where two budgets select it
  friend bool operator==(const DrainLimits&, const DrainLimits&) = default;
};

struct NodeObserved {
  Time now = {};
  std::string change = {};  // which change is not in place; empty: none
  Resources resources = {};
  std::vector<AffectedPod> pods = {};
  std::map<std::string, EvictionSeen> evictions = {};  // by uid
  Turn turn = {};
  bool withdrawn = false;  // its agent offers no free VF of `resources` (of the stored ones, where there is no change)
  bool applied = false;    // its agent has nothing to do but for a restart
  std::string failure = {};  // of its agent
  std::string boot_id = {};
  bool tainted = false;  // the Node has kRestartTaint
  RebootDecision restart = {};
  DrainLimits limits = {};
};

struct Action {
  enum class Kind : uint8_t {
    kWithdraw,  // `resources`, and no others
    kRelease,   // everything is offered again
    kEvict,     // with the precondition `uid`
    kTaint,
    kUntaint,
    kRestart,  // for restart.causes, once per boot id
  };
  Kind kind = Kind::kWithdraw;
  std::vector<std::string> resources = {};
  std::string ns = {}, name = {}, uid = {};
  std::string boot_id = {};  // of kRestart
  friend bool operator==(const Action&, const Action&) = default;
};

struct DrainCondition {
  std::string reason = {};   // one word in CamelCase
  std::string message = {};  // empty for Idle
  bool warning = false;      // an Event about it is a Warning
  friend bool operator==(const DrainCondition&, const DrainCondition&) = default;
};

struct Step {
  NodeDrain next = {};
  std::vector<Action> actions = {};
  DrainCondition condition = {};
  friend bool operator==(const Step&, const Step&) = default;
};

// Why waves() must not start a node at rest (NodeView::held): pods would be evicted for a restart that does not come.
std::string held_by(const NodeDrain& state, const RebootDecision& restart);

Step step(const NodeDrain& state, const NodeObserved& seen);

}  // namespace railbed::drain
