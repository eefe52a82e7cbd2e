// SPDX-License-Identifier: Apache-2.0
// When the operator looks at what, and whether it may write. What it writes is in operator_writes.cc.
#include "controller/operator.h"

#include <algorithm>

#include "base/format.h"
#include "doc/members.h"
#include "kube/kinds.h"

namespace railbed::controller {

using doc::Value;
using kube::Change;
using kube::Instant;
using kube::milliseconds;

namespace {

constexpr milliseconds kGather{200};  // networks and definitions that are applied together are one task
constexpr milliseconds kFlush{2000};

// From the moment at which a leader may not begin a write any more to the one at which another may.
constexpr milliseconds write_time() {
  return kube::LeaderSettings{}.lease_duration - kube::LeaderSettings{}.renew_deadline;
}

graph::Labels labels_in(const kube::ObjectPtr& object) {
  return object != nullptr ? kube::labels_of(*object) : graph::Labels();
}

bool is_going(const Value& object) {
  return !kube::metadata_text(object, "deletionTimestamp").empty();
}

}  // namespace

Operator::Operator(kube::Transport& transport, kube::Clock& clock, OperatorSettings settings, Tell tell)
    : clock_(clock),
      settings_(std::move(settings)),
      tell_(std::move(tell)),
      reader_(transport, clock, {.page = 100}),
      writer_(transport, clock, {.timeout = write_time(), .try_timeout = write_time()}),
      recorder_(writer_, {.controller = "railbed.dev/operator", .instance = settings_.identity}),
      election_(
          transport, clock, {.lease = {settings_.ns, "railbed-operator"}, .identity = settings_.identity},
          [this] {
            tell_(Importance::kInfo, "leads");
            queue_.add({Task::Type::kLook, ""});
          },
          [this] { tell_(Importance::kWarning, "no longer the leader"); }),
      queue_(clock),
      cluster_(reader_, settings_.ns, observers(), settings_.upstream_quiet),
      cells_(cells_world(), settings_.reclaim) {}

ClusterObservers Operator::observers() {
  const auto networks = [this](const Change&) { queue_.add({Task::Type::kNetworks, ""}, kGather); };
  return {.policies = [this](const Change& change) { policy_changed(change); },
          .node_states = [this](const Change& change) { queue_.add({Task::Type::kNode, change.key.name}); },
          .nodes = [this](const Change& change) { node_changed(change); },
          .networks = networks,
          .definitions = networks,
          .namespaces =
              [networks](const Change& change) {
                if (change.type != Change::Type::kChanged) networks(change);
              },
          .upstream =
              [this](const Change& change) {
                queue_.add({Task::Type::kLook, ""});
                for (const kube::ObjectPtr& pod : {change.before, change.after})
                  if (const Value* spec = pod != nullptr ? doc::object_in(*pod, "spec") : nullptr)
                    queue_.add({Task::Type::kNode, doc::text_in(*spec, "nodeName")});
              }};
}

void Operator::policy_changed(const Change& change) {
  if (change.type == Change::Type::kChanged && asks_the_same(*change.before, *change.after)) return;
  {
    const std::lock_guard lock(mutex_);
    ++policy_version_;
    // The first policies after a time without any settle, too: they may be some of those that vanished.
    const bool were_none = change.type == Change::Type::kAdded && policies_ != nullptr && policies_->empty();
    if (change.type == Change::Type::kRemoved) ++deleted_together_;
    if (change.type == Change::Type::kRemoved || were_none || settled_at_ != Instant{}) {
      settled_at_ = clock_.now() + settings_.settle;
      queue_.add({Task::Type::kSettle, ""}, settings_.settle);
    }
  }
  for (const kube::ObjectPtr& policy : {change.before, change.after})
    if (policy != nullptr) add_nodes_of(node_selector_of(*policy));
  queue_.add({Task::Type::kPolicy, change.key.to_string()}, settings_.status_pause);
}

void Operator::node_changed(const Change& change) {
  if (const std::set<std::string> machines = machines_gone_by(change); !machines.empty()) {
    cells_.concern(machines);
    queue_.add({Task::Type::kCells, ""}, settings_.cells_gather);
  }
  if (change.type == Change::Type::kChanged && labels_in(change.before) == labels_in(change.after)) return;
  queue_.add({Task::Type::kNode, change.key.name});
}

void Operator::add_nodes_of(const graph::Labels& selector) {
  for (const auto& [key, node] : cluster_.nodes())
    if (graph::labels_match(selector, kube::labels_of(*node))) queue_.add({Task::Type::kNode, key.name});
}

void Operator::add_everything() {
  std::set<std::string> names;
  for (const auto& [key, node] : cluster_.nodes()) names.insert(key.name);
  for (const auto& [key, state] : cluster_.node_states()) names.insert(key.name);
  {
    const std::lock_guard lock(mutex_);
    unseen_ = names;
  }
  for (const std::string& name : names) queue_.add({Task::Type::kNode, name});
  for (const auto& [key, policy] : cluster_.policies())
    queue_.add({Task::Type::kPolicy, key.to_string()}, settings_.status_pause);
  queue_.add({Task::Type::kNetworks, ""});
  queue_.add({Task::Type::kCells, ""});
  queue_.add({Task::Type::kIdentities, ""});
}

std::string Operator::why_closed() const {
  if (!election_.leads()) {
    const std::string holder = election_.holder();
    const std::optional<Error> error = election_.error();
    if (error) return "leader unknown: " + error->story();
    return holder.empty() || holder == settings_.identity ? "it is not the leader" : holder + " leads";
  }
  std::string missing = cluster_.missing();
  return missing.empty() ? missing : "not everything is known: " + missing;
}

void Operator::look(std::stop_token stop) {
  std::string closed = why_closed();
  const bool upstream = cluster_.upstream_operator();
  bool opened = false, closed_is_new = false, upstream_is_new = false;
  {
    const std::lock_guard lock(mutex_);
    opened = closed.empty() && !closed_.empty();
    closed_is_new = closed != closed_;
    closed_ = closed;
    upstream_is_new = closed.empty() && upstream != upstream_;
    if (closed.empty()) upstream_ = upstream;
    looked_ = clock_.now();
  }
  if (closed_is_new && !closed.empty()) tell_(Importance::kWarning, "writes nothing: " + closed);
  if (opened) {
    tell_(Importance::kInfo, "everything is known, writes");
    const Result<KindDefinition> kind = definition_of(kube::kPolicies, stop);
    const std::lock_guard lock(mutex_);
    if (kind && settled_at_ == Instant{}) policy_kind_ = kind->uid;
  }
  if (closed.empty() && (missed_.exchange(false) || opened || upstream_is_new)) add_everything();
  if (upstream_is_new)
    tell_of_namespace(upstream ? "SriovOperatorRuns" : "SriovOperatorGone",
                      upstream ? "the SR-IOV operator runs in this cluster: railbed writes only for nodes labelled "
                                 "railbed.dev/managed=true"
                               : "the SR-IOV operator no longer runs");
  if (closed.empty()) looked_at_everything_ = true;
  queue_.add({Task::Type::kLook, ""}, settings_.look_period);
}

bool Operator::namespace_is_going() const {
  const kube::ObjectPtr own = cluster_.own_namespace();
  return own == nullptr || is_going(*own);
}

Result<KindDefinition> Operator::definition_of(const kube::Resource& kind, std::stop_token stop) {
  const auto crd = reader_.get(kube::kCrds, {"", fmt::format("{}.{}", kind.plural, kind.group)}, stop);
  if (!crd && crd.error().code == Code::kDenied) return KindDefinition{};
  if (!crd) return fail(crd.error());
  if (is_going(*crd)) return fail(Code::kConflict, "it is being deleted");
  return KindDefinition{.uid = kube::uid_of(*crd), .created = kube::metadata_text(*crd, "creationTimestamp")};
}

// Whether what is left of the policies is what somebody wants.
bool Operator::settle(std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto left = settled_at_ - clock_.now(); left > kube::Instant::duration{}) {
      queue_.add({Task::Type::kSettle, ""}, std::chrono::ceil<milliseconds>(left));
      return true;
    }
  }
  const Result<KindDefinition> kind = definition_of(kube::kPolicies, stop);
  const bool doubtful = namespace_is_going() || !kind;
  const bool none_left = policies()->empty();
  int deleted = 0;
  bool vanished = false;
  {
    const std::lock_guard lock(mutex_);
    if (doubtful) settled_at_ = clock_.now() + settings_.settle;
    if (!doubtful) {
      settled_at_ = {};
      deleted = std::exchange(deleted_together_, 0);
      // Installed anew since: they went with the former definition.
      const bool is_same_kind = kind->uid == std::exchange(policy_kind_, kind->uid);
      if (!none_left || !is_same_kind) without_policies_ = WithoutPolicies::kKeepSpecs;
      if (none_left && deleted == 1 && is_same_kind) without_policies_ = WithoutPolicies::kEmptySpecs;
      vanished = none_left && deleted > 0 && without_policies_ == WithoutPolicies::kKeepSpecs;
    }
  }
  if (doubtful) {
    tell_of_namespace("PoliciesGone",
                      "policies are being deleted with their definition or namespace: node states stay unchanged");
    queue_.add({Task::Type::kSettle, ""}, settings_.settle);
    return true;
  }
  if (vanished)
    tell_of_namespace("AllPoliciesGone",
                      fmt::format("all {} policies disappeared at once: node states stay unchanged; annotate them "
                                  "{}=true to allow the removal of their VFs",
                                  deleted, kConfirmEmpty));
  add_everything();
  return true;
}

void Operator::work(std::stop_token stop) {
  while (std::optional<Task> task = queue_.take(stop)) {
    if (carry_out(*task, stop) || stop.stop_requested())
      queue_.done(*task);
    else
      queue_.failed(*task);
  }
}

bool Operator::carry_out(const Task& task, std::stop_token stop) {
  if (task.type == Task::Type::kLook) {
    look(stop);
    return true;
  }
  if (!may_write()) {
    if (task.type == Task::Type::kSettle)
      queue_.add(task, settings_.settle);  // nothing is written for nodes until then
    return true;
  }
  switch (task.type) {
    case Task::Type::kSettle:
      return settle(stop);
    case Task::Type::kNode:
      return look_at_node(task.name, stop);
    case Task::Type::kNetworks:
      return look_at_networks(stop);
    case Task::Type::kPolicy:
      return write_policy_status(task.name, stop);
    case Task::Type::kCells:
      return look_at_cells(stop);
    case Task::Type::kIdentities:
      return look_at_identities(stop);
    default:
      return true;
  }
}

bool Operator::may_write() {
  if (why_closed().empty()) return true;
  missed_ = true;
  return false;
}

std::shared_ptr<const PolicySet> Operator::policies() {
  uint64_t version = 0;
  {
    const std::lock_guard lock(mutex_);
    if (policies_ != nullptr && policies_->version() == policy_version_) return policies_;
    version = policy_version_;
  }
  // What has changed since `version` was read is in it already and only makes it be read once more.
  auto read = std::make_shared<const PolicySet>(cluster_.policies(),
                                                graph::Options{.resource_prefix = settings_.resource_prefix}, version);
  const std::lock_guard lock(mutex_);
  if (policies_ == nullptr || policies_->version() < version) policies_ = read;
  return policies_;
}

void Operator::event(kube::EventType type, std::string reason, std::string note, kube::Regarding about) {
  recorder_.record({.type = type,
                    .reason = std::move(reason),
                    .action = "Reconcile",
                    .note = std::move(note),
                    .object = std::move(about)});
}

void Operator::tell_of_namespace(const std::string& reason, const std::string& note) {
  tell_(Importance::kWarning, note);
  const kube::ObjectPtr own = cluster_.own_namespace();
  event(kube::EventType::kWarning, reason, note,
        {"v1", "Namespace", {"", settings_.ns}, own != nullptr ? kube::uid_of(*own) : ""});
}

void Operator::run(std::stop_token stop) {
  std::jthread events([this](std::stop_token end) { recorder_.run(end); });
  std::jthread leader([this](std::stop_token end) { election_.run(end); });
  cluster_.start();
  queue_.add({Task::Type::kLook, ""});
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < std::max(1, settings_.writers); ++i) writers.emplace_back([this, stop] { work(stop); });
  }
  // Only who writes no more gives the Lease back.
  recorder_.flush(kFlush);
  leader.request_stop();
  leader.join();
  cluster_.stop();
}

OperatorStanding Operator::standing() const {
  OperatorStanding out{.leads = election_.leads(),
                       .holder = election_.holder(),
                       .upstream_operator = cluster_.upstream_operator(),
                       .caches = cluster_.standings(),
                       .waiting = queue_.size(),
                       .requests = writer_.counters(),
                       .events = recorder_.counters()};
  for (const kube::ClientCounters& other : {reader_.counters(), election_.counters()}) {
    for (const auto& [key, count] : other.requests) out.requests.requests[key] += count;
    out.requests.retries += other.retries;
  }
  const std::lock_guard lock(mutex_);
  out.closed = closed_;
  out.held = held_;
  out.writes = writes_;
  out.cells = cells_.standing();
  out.shared_identities = shared_identities_.size();
  out.looked = looked_;
  return out;
}

}  // namespace railbed::controller
