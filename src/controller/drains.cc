// SPDX-License-Identifier: Apache-2.0
#include "controller/drains.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "api/cluster_labels.h"
#include "base/format.h"
#include "controller/node_reconciler.h"
#include "controller/policy_status.h"
#include "doc/members.h"
#include "drain/agent_report.h"
#include "drain/groups.h"

namespace railbed::controller {

using doc::Value;
using drain::NodeDrain;
using drain::Phase;
using kube::Change;

namespace {

constexpr int kMostWrites = 200;                  // of a pass
constexpr std::chrono::minutes kRightsAgain{10};  // after they were found missing
// No pod has this name, and none this uid.
constexpr const char* kNoPod = "railbed-may-it-evict";

// All that the change needs is withdrawn, by the order that is stored.
bool is_withdrawn(const drain::AgentReport& report, const NodeDrain& stored, const drain::Resources& needed) {
  if (report.change != stored.change || report.withdrawn.empty()) return false;
  const std::set<std::string> out(report.withdrawn.begin(), report.withdrawn.end());
  const drain::Resources of_stored(stored.resources.begin(), stored.resources.end());
  return std::ranges::includes(out, needed.empty() ? of_stored : needed);
}

// Between two orders nothing is known of a change: what is in progress stays in progress.
void keep_what_is_stored(const NodeDrain& stored, WaitingChange& change, drain::NodeView& view) {
  if (change.known || stored.phase == Phase::kIdle) return;
  change.id = stored.change;
  change.resources = {stored.resources.begin(), stored.resources.end()};
  if (stored.phase == Phase::kBlocked) view.held = "its agent has not reported on the spec yet";
}

// Without a pod to evict nothing is gained by withdrawing VFs: the agent makes the change once they are free.
void hold_without_pods(drain::NodeView& view) {
  const bool rests = view.state.phase == Phase::kIdle || view.state.phase == Phase::kBlocked;
  if (rests && view.held.empty() && std::ranges::none_of(view.pods, drain::is_in_the_way))
    view.held = fmt::format(
        "no pod requests {}, and yet VFs that change are in use: the agent's Event ChangeHeldBack "
        "names who uses them",
        fmt::join(view.resources, ", "));
}

bool is_managed(const Value& node, const Value& state, const Upstream& upstream, const std::string& name,
                const Settings& settings) {
  const graph::Labels labels = kube::labels_of(node);
  const auto label = labels.find(std::string(api::kManagedLabel));
  const std::string managed = label != labels.end() ? label->second : "";
  const bool ours = doc::text_in(doc::at(state, "metadata.labels"), api::kManagedByLabel) == api::kManagedByRailbed;
  return api::why_not_managed({.managed = managed,
                               .has_state = true,
                               .is_ours = ours,
                               .upstream_daemon = upstream.has_daemon(name),
                               .upstream_operator = upstream.runs()})
             .empty() &&
         why_left_alone(settings.config, labels).empty();
}

bool evicts_bare_on(const Settings& settings, const std::string& node) {
  const auto found = settings.assignments.pool_of.find(node);
  const api::SriovNetworkPoolConfig* pool =
      found != settings.assignments.pool_of.end() ? settings.pool(found->second) : nullptr;
  return pool != nullptr && evicts_bare_pods(*pool);
}

// Repeated Events of one reason are one, with the first note: a refusal is another reason than the wait for agents.
std::string event_reason(const drain::Step& step, const std::map<std::string, drain::EvictionSeen>& evictions) {
  using Answer = drain::EvictionSeen::Answer;
  const bool refused = std::ranges::any_of(evictions, [](const auto& one) {
    const Answer answer = one.second.answer;
    return answer == Answer::kBudget || answer == Answer::kTwoBudgets || answer == Answer::kRefused;
  });
  return refused && step.condition.reason == "Evicting" ? "EvictionRefused" : step.condition.reason;
}

}  // namespace

DrainReconciler::DrainReconciler(Manager& manager, const Upstream& upstream, ClusterSettings& settings,
                                 DrainNotes& notes, DrainRules rules)
    : manager_(manager), upstream_(upstream), settings_(settings), notes_(notes), rules_(std::move(rules)) {}

std::span<const kube::Right> DrainReconciler::rights() const {
  using kube::Verb;
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kPods, .verbs = Verb::kList},
      {.kind = kube::kNodeStates, .verbs = Verb::kPatch, .where = kube::Where::kOwnNamespace},
      {.kind = kube::kNodes, .verbs = Verb::kGet},
      {.kind = kube::kPods,
       .verbs = Verb::kCreate,
       .part = kube::Part::kEviction,
       .granted_by = kube::GrantedBy::kDrains},
      {.kind = kube::kNodes, .verbs = Verb::kPatch, .granted_by = kube::GrantedBy::kDrains},
  };
  return kRights;
}

std::span<const OptionalRead> DrainReconciler::optional_kinds() const {
  using enum OptionalRead::Without;
  static constexpr OptionalRead kReads[] = {{OptionalKind::kOperatorConfigs, kGoesOn},
                                            {OptionalKind::kPoolConfigs, kGoesOn}};
  return kReads;
}

void DrainReconciler::watch() {
  Cluster& cluster = manager_.cluster();
  for (const Known kind : {Known::kNodes, Known::kNodeStates})
    cluster.observe(kind, [this](const Change&) { later(); });
  for (const OptionalKind kind : {OptionalKind::kOperatorConfigs, OptionalKind::kPoolConfigs})
    cluster.observe(kind, [this](const Change&) { later(); });
}

void DrainReconciler::add_all() {
  later();
}

bool DrainReconciler::reconcile(const std::string& /*key*/, std::stop_token stop) {
  Pass pass{.now = std::chrono::floor<std::chrono::seconds>(manager_.clock().wall()),
            .settings = settings_.now(),
            .off = std::nullopt,
            .nodes = {},
            .work = {},
            .left = kMostWrites};
  pass.off = why_no_drains(pass.settings->config, rules_.wanted);
  look_at_nodes(pass);
  const bool waits = std::ranges::any_of(pass.work, [](const auto& one) { return !one.second.change.id.empty(); });
  const bool asks_for_rights = waits && !pass.off;
  if (asks_for_rights) {
    const Rights has = may_evict(stop);
    if (has == Rights::kNotKnown) return false;
    if (has == Rights::kNone) pass.off = "DrainsForbidden: the operator may not evict pods; deploy/drains allows it";
  }
  if (waits && !pass.off && !look_at_pods(pass, stop)) return false;
  const std::set<std::string> noted = std::exchange(noted_, {});
  if (pass.off) end_all(pass);
  const bool done = carry_out_all(pass, stop);
  for (const std::string& name : noted)
    if (!noted_.contains(name)) note(name, "");
  std::erase_if(unreadable_, [&](const auto& one) { return !pass.work.contains(one.first); });
  if (pass.off && asks_for_rights)
    manager_.later(kName, "", kRightsAgain);
  else if ((!pass.off && !pass.work.empty()) || pass.left <= 0)
    later();
  return done;
}

// No change waits for pods, whatever agents report: what is in progress ends, and VFs are offered again.
void DrainReconciler::end_all(Pass& pass) {
  evictions_.clear();
  for (auto& [name, one] : pass.work) {
    if (!one.change.id.empty()) note(name, *pass.off);
    one.change = {};
    drain::NodeView& view = pass.nodes.at(name);
    view.change.clear();
    view.resources.clear();
  }
}

bool DrainReconciler::carry_out_all(Pass& pass, const std::stop_token& stop) {
  const drain::Waves waves = drain::waves(drain_pools(*pass.settings, pass.nodes), pass.now);
  bool done = true;
  for (const auto& [name, one] : pass.work) {
    if (!one.unreadable.empty()) {
      report_unreadable(one, name);
      continue;
    }
    // A Node that is newer than the settings is in no pool yet.
    const auto turn = waves.nodes.find(name);
    if (turn != waves.nodes.end()) done = carry_out(pass, name, turn->second, stop) && done;
  }
  return done;
}

void DrainReconciler::look_at_nodes(Pass& pass) {
  const Cluster& cluster = manager_.cluster();
  pass.nodes.clear();
  pass.work.clear();
  std::map<std::string, drain::Time> cordoned;
  std::map<std::string, Wanted> wanted;
  for (const auto& [key, node] : cluster.objects(Known::kNodes)) {
    const NodeHealth health = node_health(*node);
    drain::NodeView& view = pass.nodes[key.name];
    view.name = key.name;
    view.ready = health.ready;
    view.cordoned = health.cordoned;
    view.others = health.others;
    if (health.cordoned) {
      const auto known = cordoned_.find(key.name);
      cordoned[key.name] = known != cordoned_.end() ? known->second : pass.now;
    }
    view.unavailable_since = !health.ready ? health.not_ready : health.cordoned ? cordoned[key.name] : drain::Time{};
    const kube::ObjectPtr state = cluster.node_state(key.name);
    if (state != nullptr && (health.tainted || may_concern_drains(*state))) look_at_state(pass, state, node, view);
    if (const auto work = pass.work.find(key.name); work != pass.work.end()) work->second.tainted = health.tainted;
    if (view.change.empty()) continue;
    const auto known = wanted_.find(key.name);
    wanted[key.name] =
        known != wanted_.end() && known->second.change == view.change ? known->second : Wanted{view.change, pass.now};
    view.wanted_since = wanted[key.name].since;
  }
  cordoned_ = std::move(cordoned);
  wanted_ = std::move(wanted);
}

void DrainReconciler::look_at_state(Pass& pass, const kube::ObjectPtr& state, const kube::ObjectPtr& node,
                                    drain::NodeView& view) {
  Work& one = pass.work[view.name];
  one.state = state;
  Result<NodeDrain> stored = drain::read_node_drain(kube::annotation_of(*state, drain::kDrainAnnotation));
  if (!stored) {
    // It may be in the middle of a drain: it counts, and nothing is done there.
    one.unreadable = stored.error().message;
    view.others.emplace_back("a drain whose stored state cannot be read");
    return;
  }
  view.state = *std::move(stored);
  if (Result<drain::AgentReport> report =
          drain::read_agent_report(kube::annotation_of(*state, drain::kReportAnnotation)))
    one.report = *std::move(report);
  doc::Diagnostics found;
  const std::optional<api::SriovNetworkNodeState> read = api::parse_node_state(*state, found);
  if (read && is_managed(*node, *state, upstream_, view.name, *pass.settings)) {
    one.change = waiting_change(*read, rules_.resource_prefix);
    keep_what_is_stored(view.state, one.change, view);
  }
  view.change = one.change.id;
  view.resources = one.change.resources;
  view.withdrawn = is_withdrawn(one.report, view.state, view.resources);
}

bool DrainReconciler::look_at_pods(Pass& pass, std::stop_token stop) {
  std::map<std::string, std::vector<drain::DrainPod>> pods;
  const auto seen = manager_.reader().visit(
      kube::kPods, {}, kube::pod_trim(),
      [&](const Value& pod) {
        const std::string node(doc::text_at(pod, "spec.nodeName"));
        const auto work = pass.work.find(node);
        if (work != pass.work.end() && !work->second.change.id.empty())
          pods[node].push_back(drain::read_drain_pod(pod));
        return kube::Visit::kGoOn;
      },
      std::move(stop));
  if (!seen) return false;
  std::set<std::string> uids;
  for (auto& [name, of_node] : pods) {
    drain::NodeView& view = pass.nodes.at(name);
    drain::Affected affected = drain::affected_pods(
        {.node = name, .resources = view.resources, .evict_bare = evicts_bare_on(*pass.settings, name)}, of_node, {});
    drain::set_units(affected, of_node, {});
    view.pods = std::move(affected.pods);
    for (const drain::AffectedPod& pod : view.pods) uids.insert(pod.uid);
  }
  std::erase_if(evictions_, [&](const auto& one) { return !uids.contains(one.first); });
  for (const auto& [name, one] : pass.work)
    if (!one.change.id.empty()) hold_without_pods(pass.nodes.at(name));
  return true;
}

// The API server looks at rights before it looks for the pod.
DrainReconciler::Rights DrainReconciler::may_evict(std::stop_token stop) {
  if (has_rights_) return Rights::kAll;
  const kube::Instant now = manager_.clock().now();
  if (tried_rights_ && now - *tried_rights_ < kRightsAgain) return Rights::kNone;
  if (!manager_.may_write()) return Rights::kNotKnown;
  const kube::Answer<void> answer = manager_.writer().evict({manager_.cluster().ns(), kNoPod}, kNoPod, std::move(stop));
  has_rights_ = answer || answer.error().status == 404 || answer.error().status == 409;
  if (has_rights_) return Rights::kAll;
  if (answer.error().code != Code::kDenied) return Rights::kNotKnown;
  tried_rights_ = now;
  manager_.report_of_namespace(
      "DrainsForbidden", fmt::format("changes wait for pods, and this operator may not evict any: {}; deploy/drains "
                                     "allows it, disableDrain of SriovOperatorConfig ends this",
                                     answer.error().message));
  return Rights::kNone;
}

bool DrainReconciler::carry_out(Pass& pass, const std::string& node, const drain::Turn& turn, std::stop_token stop) {
  const Work& one = pass.work.at(node);
  const drain::NodeView& view = pass.nodes.at(node);
  std::map<std::string, drain::EvictionSeen> evictions;
  for (const drain::AffectedPod& pod : view.pods)
    if (const auto found = evictions_.find(pod.uid); found != evictions_.end()) evictions.insert(*found);
  const drain::Step step = drain::step(view.state, {.now = pass.now,
                                                    .change = view.change,
                                                    .resources = view.resources,
                                                    .pods = view.pods,
                                                    .evictions = evictions,
                                                    .turn = turn,
                                                    .withdrawn = view.withdrawn,
                                                    .applied = one.report.applied,
                                                    .failure = one.report.failure,
                                                    .boot_id = one.report.boot_id,
                                                    .tainted = one.tainted,
                                                    .restart = {},
                                                    .limits = rules_.limits});
  if (!step.condition.message.empty()) note(node, fmt::format("{}: {}", step.condition.reason, step.condition.message));
  if (pass.left <= 0) return true;
  --pass.left;
  if (!store(one, node, step, event_reason(step, evictions), stop)) return false;
  for (const drain::Action& action : step.actions) {
    using Kind = drain::Action::Kind;
    // What was reported is of an earlier spec while the agent has not reported on this one.
    if (action.kind == Kind::kEvict && one.change.known && pass.left > 0) evict(pass, node, action, stop);
    if (action.kind == Kind::kTaint || action.kind == Kind::kUntaint)
      set_taint(node, action.kind == Kind::kTaint, stop);
  }
  return true;
}

// False: it is not stored, so nothing is done.
bool DrainReconciler::store(const Work& one, const std::string& node, const drain::Step& step,
                            const std::string& reason, std::stop_token stop) {
  const std::string before = kube::annotation_of(*one.state, kDrainCondition);
  const std::string text = condition_text(step, before);
  const std::optional<Value> patch = drain_patch(*one.state, drain::to_text(step.next), text);
  if (!patch) return true;
  const WriteOf of{kube::kNodeStates,
                   fmt::format("node state {}: its drain{}{}", node, text.empty() ? "" : ", ", text)};
  if (!manager_.patch(of, {manager_.cluster().ns(), node}, *patch, std::move(stop))) return false;
  manager_.report(Importance::kInfo, of.what);
  if (text != before && !text.empty())
    manager_.event(step.condition.warning ? kube::EventType::kWarning : kube::EventType::kNormal, reason,
                   copied_text(step.condition.message), kube::regarding(*one.state));
  return true;
}

void DrainReconciler::evict(Pass& pass, const std::string& node, const drain::Action& action, std::stop_token stop) {
  if (!manager_.may_write()) return;
  --pass.left;
  const kube::ObjectKey pod{action.ns, action.name};
  const kube::Answer<void> answer = manager_.writer().evict(pod, action.uid, std::move(stop));
  const drain::EvictionSeen& seen = evictions_[action.uid] = eviction_seen(answer, pass.now);
  const std::string what = fmt::format("eviction of pod {} from node {}", pod.to_string(), node);
  // A budget that does not allow it now, and a pod that ended by itself, are no failures.
  if (seen.answer == drain::EvictionSeen::Answer::kBudget || seen.answer == drain::EvictionSeen::Answer::kEnded) return;
  manager_.wrote(kube::kPods, what, answer ? nullptr : &answer.error());
  if (answer) manager_.report(Importance::kInfo, what);
  if (!answer && answer.error().status == 403) has_rights_ = is_of_policy(answer.error());
}

void DrainReconciler::set_taint(const std::string& node, bool wanted, std::stop_token stop) {
  const kube::Answer<Value> read = manager_.reader().get(kube::kNodes, {"", node}, stop);
  if (!read) return;  // again with the next pass
  if (const std::optional<Value> patch = taint_patch(*read, wanted))
    (void)manager_.patch(
        {kube::kNodes, fmt::format("node {}: taint {} {}", node, drain::kRestartTaint, wanted ? "set" : "removed")},
        {"", node}, *patch, std::move(stop));
}

void DrainReconciler::note(const std::string& node, const std::string& text) {
  if (!text.empty()) noted_.insert(node);
  if (notes_.put(node, text)) manager_.later(NodeReconciler::kName, node);
}

void DrainReconciler::report_unreadable(const Work& one, const std::string& node) {
  const std::string why = fmt::format(
      "the annotation {} cannot be read: {}; nothing is evicted or changed there, and it counts against the pool's "
      "bound; remove the annotation to begin again",
      drain::kDrainAnnotation, copied_text(one.unreadable));
  note(node, "DrainStateUnreadable: " + why);
  if (std::exchange(unreadable_[node], why) == why) return;
  manager_.report(Importance::kWarning, fmt::format("node state {}: {}", node, why));
  manager_.event(kube::EventType::kWarning, "DrainStateUnreadable", why, kube::regarding(*one.state));
}

}  // namespace railbed::controller
