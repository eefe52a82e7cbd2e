// SPDX-License-Identifier: Apache-2.0
#include "controller/node_reconciler.h"

#include <algorithm>

#include "api/cluster_labels.h"
#include "base/format.h"
#include "controller/policy_reconciler.h"
#include "doc/json.h"

namespace railbed::controller {

using doc::Value;
using kube::Change;
using kube::milliseconds;
using Action = NodeDecision::Action;

namespace {

constexpr const char* kSettle = "";          // the task: policies were deleted or created, and no more are
constexpr milliseconds kFirstRewrite{1000};  // longer than a cache takes to hear of the write
constexpr int kLongestRewrite = 8;           // doublings

graph::Labels labels_in(const kube::ObjectPtr& object) {
  return object != nullptr ? kube::labels_of(*object) : graph::Labels();
}

}  // namespace

NodeReconciler::NodeReconciler(Manager& manager, const Upstream& upstream, Policies& policies,
                               ClusterSettings& cluster_settings, Outcomes& outcomes, const DrainNotes& drains,
                               NodeRules rules)
    : manager_(manager),
      upstream_(upstream),
      policies_(policies),
      cluster_settings_(cluster_settings),
      outcomes_(outcomes),
      drains_(drains),
      rules_(std::move(rules)) {}

std::span<const kube::Right> NodeReconciler::rights() const {
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kNodeStates,
       .verbs = kube::Verb::kApply | kube::Verb::kPatch | kube::Verb::kDelete,
       .where = kube::Where::kOwnNamespace},
  };
  return kRights;
}

std::span<const OptionalRead> NodeReconciler::optional_kinds() const {
  using enum OptionalRead::Without;
  static constexpr OptionalRead kReads[] = {{OptionalKind::kOperatorConfigs, kGoesOn},
                                            {OptionalKind::kPoolConfigs, kGoesOn}};
  return kReads;
}

void NodeReconciler::watch() {
  Cluster& cluster = manager_.cluster();
  for (const OptionalKind kind : {OptionalKind::kOperatorConfigs, OptionalKind::kPoolConfigs})
    cluster.observe(kind, [this](const Change& change) { settings_changed(change); });
  cluster.observe(Known::kPolicies, [this](const Change& change) { policy_changed(change); });
  cluster.observe(Known::kNodeStates, [this](const Change& change) { add_node(change.key.name); });
  cluster.observe(Known::kNodes, [this](const Change& change) {
    if (change.type == Change::Type::kChanged && labels_in(change.before) == labels_in(change.after)) return;
    cluster_settings_.changed();
    add_node(change.key.name);
  });
  for (const Known pods : {Known::kUpstreamOperators, Known::kUpstreamDaemons})
    cluster.observe(pods, [this](const Change& change) {
      for (const kube::ObjectPtr& pod : {change.before, change.after}) add_node(node_of_pod(pod));
    });
}

void NodeReconciler::policy_changed(const Change& change) {
  if (change.type == Change::Type::kChanged && asks_the_same(*change.before, *change.after)) return;
  // The first policies after a time without any settle, too: they may be some of those that vanished.
  const bool were_none = change.type == Change::Type::kAdded && policies_.were_none();
  policies_.changed();
  // One that does not count is nothing that was taken away.
  if (upstream_.namespaces().served.contains(change.key.ns)) {
    const std::lock_guard lock(mutex_);
    if (change.type == Change::Type::kRemoved) ++settle_.deleted_together;
    if (change.type == Change::Type::kRemoved || were_none || settled_at_ != kube::Instant{}) {
      settled_at_ = manager_.clock().now() + rules_.settle;
      manager_.later(name(), kSettle, rules_.settle);
    }
  }
  for (const kube::ObjectPtr& policy : {change.before, change.after})
    if (policy != nullptr) add_nodes_of(node_selector_of(*policy));
}

void NodeReconciler::settings_changed(const Change& change) {
  if (change.type == Change::Type::kChanged && asks_the_same(*change.before, *change.after)) return;
  cluster_settings_.changed();
  add_nodes_of({});
}

void NodeReconciler::add_node(const std::string& node) {
  if (!node.empty()) manager_.later(name(), node);
}

void NodeReconciler::add_nodes_of(const graph::Labels& selector) {
  for (const auto& [key, node] : manager_.cluster().objects(Known::kNodes))
    if (graph::labels_match(selector, kube::labels_of(*node))) add_node(key.name);
}

void NodeReconciler::add_all() {
  std::set<std::string> names;
  for (const Known kind : {Known::kNodes, Known::kNodeStates})
    for (const auto& [key, object] : manager_.cluster().objects(kind)) names.insert(key.name);
  outcomes_.expect(names);
  for (const std::string& node : names) add_node(node);
  const std::lock_guard lock(mutex_);
  if (settled_at_ != kube::Instant{}) manager_.later(name(), kSettle);
}

void NodeReconciler::opened(const std::stop_token& stop) {
  const Result<KindDefinition> kind = manager_.definition_of(kube::kPolicies, stop);
  const std::lock_guard lock(mutex_);
  if (kind && settled_at_ == kube::Instant{}) settle_.policy_kind = kind->uid;
}

bool NodeReconciler::reconcile(const std::string& key, std::stop_token stop) {
  return key == kSettle ? settle(std::move(stop)) : look_at_node(key, std::move(stop));
}

bool NodeReconciler::is_namespace_going() const {
  const Cluster& cluster = manager_.cluster();
  if (cluster.own_namespace() == nullptr) return true;
  return std::ranges::any_of(upstream_.namespaces().served, [&](const std::string& ns) {
    const kube::ObjectPtr one = cluster.namespace_named(ns);  // the others need not exist
    return one != nullptr && kube::is_being_deleted(*one);
  });
}

bool NodeReconciler::settle(std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    if (settled_at_ == kube::Instant{}) return true;
    if (const auto left = settled_at_ - manager_.clock().now(); left > kube::Instant::duration{}) {
      manager_.later(name(), kSettle, std::chrono::ceil<milliseconds>(left));
      return true;
    }
  }
  Result<KindDefinition> kind = manager_.definition_of(kube::kPolicies, std::move(stop));
  const bool is_going = is_namespace_going();
  const bool has_policies = !policies_.set()->empty();
  Settled settled;
  {
    const std::lock_guard lock(mutex_);
    settled =
        controller::settle(settle_, kind ? std::optional(*std::move(kind)) : std::nullopt, is_going, has_policies);
    settle_ = settled.next;
    const bool is_doubtful = settled.verdict == Settled::Verdict::kDoubtful;
    settled_at_ = is_doubtful ? manager_.clock().now() + rules_.settle : kube::Instant{};
  }
  if (settled.verdict == Settled::Verdict::kDoubtful) {
    manager_.report_of_namespace(
        "PoliciesGone", "policies are being deleted with their definition or namespace: node states stay unchanged");
    manager_.later(name(), kSettle, rules_.settle);
    return true;
  }
  if (settled.verdict == Settled::Verdict::kVanished)
    manager_.report_of_namespace(
        "AllPoliciesGone", fmt::format("all {} policies disappeared at once: node states stay unchanged; annotate them "
                                       "{}=true to allow the removal of their VFs",
                                       settled.vanished, kConfirmEmpty));
  manager_.add_everything();
  return true;
}

bool NodeReconciler::look_at_node(const std::string& node, std::stop_token stop) {
  const std::shared_ptr<const PolicySet> set = policies_.set();
  const Cluster& cluster = manager_.cluster();
  NodeView view{.name = node,
                .ns = cluster.ns(),
                .upstream_operator = upstream_.runs(),
                .upstream_daemon = upstream_.has_daemon(node),
                .keep = rules_.keep_states,
                .now = manager_.clock().wall()};
  {
    const std::lock_guard lock(mutex_);
    if (settled_at_ != kube::Instant{}) {
      outcomes_.decided(node);  // all are looked at again when it has settled
      return true;
    }
    view.without_policies = settle_.without_policies;
  }
  const kube::ObjectPtr object = cluster.node(node);
  const kube::ObjectPtr state = cluster.node_state(node);
  if (object != nullptr && graph::labels_match(rules_.node_selector, kube::labels_of(*object)))
    view.node = object.get();
  view.state = state.get();
  const std::shared_ptr<const Settings> said = cluster_settings_.now();
  view.left_alone = why_left_alone(said->config, labels_in(object));
  view.log_level = said->config.config.log_level;
  view.rdma_mode = said->rdma_mode_of(node);
  view.drain = drains_.of(node);
  NodeDecision decision = decide(view, *set);
  for (const std::string& policy : outcomes_.put(node, std::move(decision.outcomes)))
    manager_.later(PolicyReconciler::kName, policy, rules_.status_pause);
  // While the SR-IOV operator runs, nodes that were not taken over are held for it: one Event at the namespace says so.
  const bool is_plain = upstream_.runs() && labels_in(object)[std::string(api::kManagedLabel)] != "true";
  report_held(node, state, decision.held, is_plain ? Reported::kInTheLog : Reported::kByAnEvent);
  if (decision.again) manager_.later(name(), node, *decision.again);
  const bool done = write(node, state, std::move(decision), std::move(stop));
  if (done) outcomes_.decided(node);
  return done;
}

// The same spec again means that somebody else writes another one, or that the cache has not heard of ours yet.
bool NodeReconciler::is_too_soon(const std::string& node, const Value& body) {
  const size_t hash = std::hash<std::string>()(doc::to_json(body));
  const kube::Instant now = manager_.clock().now();
  milliseconds pause{}, since{};
  int times = 0;
  {
    const std::lock_guard lock(mutex_);
    LastWrite& last = last_writes_[node];
    if (last.times == 0 || last.hash != hash) {
      last = {.hash = hash, .at = now, .times = 1};
      return false;
    }
    pause = kFirstRewrite * (1 << std::min(last.times - 1, kLongestRewrite));
    since = std::chrono::duration_cast<milliseconds>(now - last.at);
    times = last.times;
    if (since >= pause) {
      last.at = now;
      ++last.times;
    }
  }
  if (since < pause) {
    manager_.later(name(), node, pause - since);
    return true;
  }
  if (times > 1)
    manager_.report(Importance::kWarning, fmt::format("node state {}: another client keeps changing its spec", node));
  return false;
}

bool NodeReconciler::write(const std::string& node, const kube::ObjectPtr& state, NodeDecision decision,
                           std::stop_token stop) {
  if (decision.action == Action::kNone) return true;
  if (decision.action == Action::kApply && is_too_soon(node, decision.body)) return true;
  const WriteOf of{kube::kNodeStates, fmt::format("node state {}: {}", node, decision.what)};
  const kube::ObjectKey key{manager_.cluster().ns(), node};
  bool done = false;
  switch (decision.action) {
    case Action::kApply:
      done = manager_.apply(of, std::move(decision.body), std::move(stop)).has_value();
      break;
    case Action::kPatch:
      done = manager_.patch(of, key, decision.body, std::move(stop)).has_value();
      break;
    case Action::kDelete:
      done = manager_
                 .remove(of, key,
                         {.uid = kube::uid_of(*state),
                          .resource_version = kube::resource_version(*state),
                          .grace_seconds = {}},
                         std::move(stop))
                 .has_value();
      break;
    case Action::kNone:
      break;
  }
  if (done) manager_.report(Importance::kInfo, of.what);
  if (!done || decision.action == Action::kDelete) {
    const std::lock_guard lock(mutex_);
    last_writes_.erase(node);  // it counts only what was written
  }
  return done;
}

void NodeReconciler::report_held(const std::string& node, const kube::ObjectPtr& state, const std::string& why,
                                 Reported reported) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = held_.find(node);
    if (known != held_.end() ? known->second == why : why.empty()) return;
    if (why.empty()) {
      held_.erase(known);
      return;
    }
    held_[node] = why;
  }
  manager_.report(Importance::kWarning, fmt::format("node state {}: held: {}", node, why));
  if (state != nullptr && reported == Reported::kByAnEvent)
    manager_.event(kube::EventType::kWarning, "Held", why, kube::regarding(*state));
}

std::map<std::string, std::string> NodeReconciler::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace railbed::controller
