// SPDX-License-Identifier: Apache-2.0
#include "drain/step.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "drain/groups.h"

namespace railbed::drain {
namespace {

using Answer = EvictionSeen::Answer;
using Kind = Turn::Kind;

constexpr size_t kShownBlockers = 5;

std::string budgets_text(const std::vector<BudgetSeen>& budgets) {
  std::vector<std::string> parts;
  for (const BudgetSeen& one : budgets)
    parts.push_back(fmt::format("{} ({} disruptions allowed, {} of {} healthy pods required)", one.name, one.allowed,
                                one.desired, one.healthy));
  return parts.empty() ? "one that is not known yet" : fmt::format("{}", fmt::join(parts, ", "));
}

// What a pod that is still there waits for.
std::string blocker_of(const AffectedPod& pod, const NodeObserved& seen) {
  if (!is_evictable(pod)) return fmt::format("pod {} {}", pod.key(), pod.reason);
  const auto found = seen.evictions.find(pod.uid);
  if (found == seen.evictions.end()) return fmt::format("pod {} is to be evicted", pod.key());
  const EvictionSeen& eviction = found->second;
  switch (eviction.answer) {
    case Answer::kBudget:
      return fmt::format("pod {}: PodDisruptionBudget {}", pod.key(), budgets_text(eviction.budgets));
    case Answer::kTwoBudgets:
      return fmt::format(
          "pod {} cannot be evicted, because more than one PodDisruptionBudget selects it: {}; delete "
          "all but one",
          pod.key(), budgets_text(eviction.budgets));
    case Answer::kRefused:
      return fmt::format("pod {}: the eviction was refused: {}", pod.key(), eviction.text);
    case Answer::kSent:
    case Answer::kAccepted:
    case Answer::kEnded:
      break;
  }
  return fmt::format("pod {} is being evicted", pod.key());
}

// A person has to change something before it ends.
bool is_stuck(const AffectedPod& pod, const NodeObserved& seen) {
  if (!is_evictable(pod)) return pod.kind != PodClass::kEnding || !pod.finalizers.empty();
  const auto found = seen.evictions.find(pod.uid);
  return found != seen.evictions.end() &&
         (found->second.answer == Answer::kTwoBudgets || found->second.answer == Answer::kRefused);
}

std::string blockers_text(const std::vector<const AffectedPod*>& pods, const NodeObserved& seen) {
  std::vector<std::string> parts;
  for (const AffectedPod* pod : pods)
    if (parts.size() < kShownBlockers) parts.push_back(blocker_of(*pod, seen));
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (pods.size() > parts.size()) text += fmt::format("; and {} more pods", pods.size() - parts.size());
  return text;
}

bool is_due(const AffectedPod& pod, const NodeObserved& seen) {
  const auto found = seen.evictions.find(pod.uid);
  if (found == seen.evictions.end()) return true;
  const bool is_twice = found->second.answer == Answer::kTwoBudgets;
  return seen.now >= found->second.at + (is_twice ? seen.limits.two_budgets : seen.limits.between);
}

// Pods of DaemonSets after all others, and of one owner one unit at a time.
std::vector<Action> evictions_of(const std::vector<const AffectedPod*>& pods, const NodeObserved& seen) {
  std::vector<Action> out;
  std::map<std::string_view, std::string_view> unit_of_owner;
  const bool only_daemons =
      std::ranges::all_of(pods, [](const AffectedPod* pod) { return pod->kind == PodClass::kDaemon; });
  for (const AffectedPod* pod : pods)  // what is ending already is the unit of its owner
    if (pod->kind == PodClass::kEnding && !pod->spread.empty()) unit_of_owner.emplace(pod->spread, pod->unit);
  for (const AffectedPod* pod : pods) {
    if (!is_evictable(*pod) || (pod->kind == PodClass::kDaemon && !only_daemons)) continue;
    if (!pod->spread.empty() && unit_of_owner.emplace(pod->spread, pod->unit).first->second != pod->unit) continue;
    if (!is_due(*pod, seen)) continue;
    out.push_back({.kind = Action::Kind::kEvict, .ns = pod->ns, .name = pod->name, .uid = pod->uid});
  }
  return out;
}

class Stepper {
 public:
  Stepper(const NodeDrain& state, const NodeObserved& seen) : state_(state), seen_(seen) { out_.next = state; }

  Step run() {
    switch (state_.phase) {
      case Phase::kIdle:
      case Phase::kBlocked:
        at_rest();
        break;
      case Phase::kWithdrawn:
        withdrawn();
        break;
      case Phase::kEvicting:
        evicting();
        break;
      case Phase::kChanging:
        changing();
        break;
      case Phase::kRestarting:
        restarting();
        break;
    }
    return std::move(out_);
  }

 private:
  void act(Action::Kind kind) { out_.actions.push_back({.kind = kind}); }
  void report(std::string_view reason, std::string message, bool warning = false) {
    out_.condition = {std::string(reason), std::move(message), warning};
  }
  bool wants_restart() const { return seen_.restart.verdict == RebootDecision::Verdict::kReboot; }

  void enter(Phase phase) {
    out_.next.phase = phase;
    out_.next.since = seen_.now;
  }
  void take_turn() {
    out_.next.change = seen_.change;
    out_.next.resources.assign(seen_.resources.begin(), seen_.resources.end());
    for (const std::string& unit : seen_.turn.units)
      if (std::ranges::count(out_.next.units, unit) == 0) out_.next.units.push_back(unit);
    std::ranges::sort(out_.next.units);
    for (const std::string& spread : seen_.turn.spreads)
      if (std::ranges::count(out_.next.spreads, spread) == 0) out_.next.spreads.push_back(spread);
    std::ranges::sort(out_.next.spreads);
  }
  void withdraw() {
    if (!seen_.withdrawn || out_.next.resources != state_.resources)
      out_.actions.push_back({.kind = Action::Kind::kWithdraw, .resources = out_.next.resources});
  }
  // Each time, because the operator may have been killed between the state and this.
  void restore() {
    if (seen_.withdrawn || !state_.resources.empty()) act(Action::Kind::kRelease);
    if (seen_.tainted) act(Action::Kind::kUntaint);
  }
  void end() {
    out_.next = {};
    restore();
    report("Idle", "");
  }
  void give_up(std::string_view reason, std::string why) {
    out_.next = {.phase = Phase::kBlocked, .change = state_.change, .since = seen_.now, .why = why};
    restore();
    report(reason, std::move(why), true);
  }

  void at_rest() {
    const bool is_blocked = state_.phase == Phase::kBlocked;
    if (seen_.change.empty()) return end();
    if (seen_.turn.kind == Kind::kNone || seen_.turn.kind == Kind::kWait) {
      restore();
      if (seen_.restart.verdict == RebootDecision::Verdict::kNotEffective)
        report("NotEffective", seen_.restart.message, true);
      else if (seen_.restart.verdict == RebootDecision::Verdict::kNotAllowed)
        report("NotAllowedHere", seen_.restart.message, true);
      else if (is_blocked)
        report("Blocked", state_.why, true);
      else
        report("Waiting", seen_.turn.reason);
      return;
    }
    out_.next = {};
    begin();
  }

  // From rest or kWithdrawn.
  void begin() {
    const bool starts = seen_.turn.kind == Kind::kGo || seen_.turn.kind == Kind::kChange;
    take_turn();
    if (starts) {
      out_.next.slot = seen_.turn.slot;
      out_.next.started = seen_.now;
      enter(Phase::kEvicting);
      report("Evicting", seen_.pods.empty() ? "no pod has to be evicted" : "VFs are withdrawn before pods are evicted");
    } else {
      if (state_.phase != Phase::kWithdrawn) enter(Phase::kWithdrawn);
      report("Withdrawn", seen_.turn.reason);
    }
    withdraw();
  }

  void withdrawn() {
    if (seen_.change.empty() || seen_.turn.kind == Kind::kWait || seen_.turn.kind == Kind::kNone) return end_or_wait();
    begin();
    if (out_.next.phase != Phase::kWithdrawn || !is_withdrawn()) return;
    evict(pods_of(out_.next.units));
  }
  void end_or_wait() {
    end();
    if (!seen_.change.empty()) report("Waiting", seen_.turn.reason);
  }

  bool is_withdrawn() const { return seen_.withdrawn && out_.next.resources == state_.resources; }

  std::vector<const AffectedPod*> pods_of(const std::vector<std::string>& units) const {
    std::vector<const AffectedPod*> out;
    for (const AffectedPod& pod : seen_.pods)
      if (is_in_the_way(pod) && std::ranges::binary_search(units, pod.unit)) out.push_back(&pod);
    return out;
  }
  std::vector<const AffectedPod*> all_pods() const {
    std::vector<const AffectedPod*> out;
    for (const AffectedPod& pod : seen_.pods)
      if (is_in_the_way(pod)) out.push_back(&pod);
    return out;
  }

  void evict(const std::vector<const AffectedPod*>& pods) {
    if (pods.empty()) return;
    if (!seen_.turn.not_withdrawn.empty())
      return report("Evicting", fmt::format("waits until node {} has withdrawn its VFs", seen_.turn.not_withdrawn));
    std::ranges::move(evictions_of(pods, seen_), std::back_inserter(out_.actions));
    report("Evicting", blockers_text(pods, seen_),
           std::ranges::any_of(pods, [&](const AffectedPod* pod) { return is_stuck(*pod, seen_); }));
  }

  bool is_late() const { return seen_.now >= state_.started + seen_.limits.per_node; }
  std::string limit_text() const { return fmt::format("not done after {} s", seen_.limits.per_node.count()); }

  void evicting() {
    if (seen_.change.empty()) return end();
    take_turn();
    withdraw();
    const std::vector<const AffectedPod*> pods = all_pods();
    if (is_late())
      return give_up_with("Blocked", fmt::format("{}: {}", limit_text(),
                                                 !is_withdrawn() ? "the agent has not withdrawn the VFs"
                                                 : pods.empty()  ? "other nodes of its groups have not followed"
                                                                 : blockers_text(pods, seen_)));
    if (wants_restart() && !seen_.tainted) act(Action::Kind::kTaint);
    if (!is_withdrawn()) return report("Evicting", "waits until the agent has withdrawn the VFs");
    if (!pods.empty()) return evict(pods);
    if (!seen_.turn.may_change) return report("Evicting", "waits for the other nodes of its groups");
    enter(Phase::kChanging);
    report("Changing", "the agent applies the change");
  }
  void give_up_with(std::string_view reason, std::string why) {
    out_.actions.clear();
    give_up(reason, std::move(why));
  }

  void changing() {
    if (seen_.change.empty()) return end();
    take_turn();
    withdraw();
    if (is_late())
      return give_up_with("Blocked",
                          fmt::format("{}: {}", limit_text(),
                                      seen_.failure.empty() ? "the agent has not applied the change" : seen_.failure));
    if (!all_pods().empty()) {
      enter(Phase::kEvicting);
      return report("Evicting", blockers_text(all_pods(), seen_));
    }
    if (seen_.applied) return restart();
    report("Changing", seen_.failure.empty() ? "the agent applies the change" : seen_.failure, !seen_.failure.empty());
  }

  void restart() {
    switch (seen_.restart.verdict) {
      case RebootDecision::Verdict::kNotNeeded:
        return report("Changing", "the agent confirms the change");
      case RebootDecision::Verdict::kWaits:
        return report("Waiting", seen_.restart.message);
      case RebootDecision::Verdict::kNotAllowed:
        return give_up_with("NotAllowedHere", seen_.restart.message);
      case RebootDecision::Verdict::kNotEffective:
        return give_up_with("NotEffective", seen_.restart.message);
      case RebootDecision::Verdict::kReboot:
        if (!seen_.tainted) {  // no pod may arrive in between
          act(Action::Kind::kTaint);
          return report("Changing", "the node is tainted before it restarts");
        }
        [[fallthrough]];
      case RebootDecision::Verdict::kInProgress:
        enter(Phase::kRestarting);
        out_.next.boot_id = seen_.boot_id;
        out_.actions.push_back({.kind = Action::Kind::kRestart, .boot_id = seen_.boot_id});
        return report("Restarting", seen_.restart.message);
    }
  }

  void restarting() {
    if (seen_.change.empty()) return end();
    if (seen_.restart.verdict == RebootDecision::Verdict::kNotEffective)
      return give_up_with("NotEffective", seen_.restart.message);
    const bool is_same_boot = seen_.boot_id == state_.boot_id;
    if (seen_.now >= state_.since + seen_.limits.per_node)
      return give_up_with("Blocked", fmt::format("{}: {}", limit_text(),
                                                 is_same_boot ? "the node has not restarted"
                                                              : "the change is not in place after the restart"));
    // The agent restarts once per boot id, so that this may be repeated.
    if (is_same_boot) out_.actions.push_back({.kind = Action::Kind::kRestart, .boot_id = state_.boot_id});
    report("Restarting",
           is_same_boot ? seen_.restart.message : "the node has restarted; the agent confirms the change");
  }

  const NodeDrain& state_;
  const NodeObserved& seen_;
  Step out_;
};

}  // namespace

EvictionSeen::Answer eviction_answer(int http_status, bool names_budget, std::string_view message) {
  if (http_status >= 200 && http_status < 300) return Answer::kAccepted;
  if (http_status == 404 || http_status == 409) return Answer::kEnded;
  if (http_status == 429 && names_budget) return Answer::kBudget;
  if (http_status == 500 && message.find("more than one PodDisruptionBudget") != std::string_view::npos)
    return Answer::kTwoBudgets;
  return Answer::kRefused;
}

std::string held_by(const NodeDrain& state, const RebootDecision& restart) {
  using Restart = RebootDecision::Verdict;
  if (is_active(state) || restart.verdict == Restart::kNotNeeded || restart.verdict == Restart::kReboot) return "";
  return restart.message;
}

Step step(const NodeDrain& state, const NodeObserved& seen) {
  return Stepper(state, seen).run();
}

}  // namespace railbed::drain
