// SPDX-License-Identifier: Apache-2.0
// What the operator writes: node states, definitions, statuses.
#include <algorithm>

#include "base/format.h"
#include "controller/operator.h"
#include "controller/pool_entries.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::controller {

using doc::Value;
using kube::milliseconds;
using Action = NodeDecision::Action;

namespace {

constexpr milliseconds kFirstRewrite{1000};  // longer than a cache takes to hear of the write
constexpr int kLongestRewrite = 8;           // doublings

const kube::ApplyOptions kObject{.manager = std::string(kFieldManager),
                                 .conflicts = kube::ApplyOptions::Conflicts::kTakeOver};
const kube::ApplyOptions kStatus{.manager = std::string(kFieldManager),
                                 .conflicts = kube::ApplyOptions::Conflicts::kTakeOver,
                                 .part = kube::Part::kStatus};

Value status_object(const Value& of, Value status) {
  Value out = Value::object();
  Value& meta = out.set("metadata", Value::object());
  const kube::ObjectKey key = kube::key_of(of);
  meta.set("name", key.name);
  meta.set("namespace", key.ns);
  meta.set("uid", kube::uid_of(of));
  out.set("status", std::move(status));
  return out;
}

// A definition of the kind that somebody else installed may not have our status.
bool keeps_status(const Value& answer) {
  const Value* status = doc::object_in(answer, "status");
  return status != nullptr && doc::list_in(*status, "conditions") != nullptr;
}

std::string condition_text(const Value& status) {
  const Value::Array* conditions = doc::list_in(status, "conditions");
  if (conditions == nullptr || conditions->empty()) return "";
  const Value& ready = conditions->front();
  return fmt::format("{}: {}", doc::text_in(ready, "reason"), doc::text_in(ready, "message"));
}

}  // namespace

bool Operator::wrote(const std::string& kind, const std::string& what, const kube::ApiError* error) {
  {
    const std::lock_guard lock(mutex_);
    ++writes_[{kind, error == nullptr}];
  }
  if (error == nullptr) return true;
  if (error->code != Code::kCanceled) tell_(Importance::kWarning, fmt::format("{}: {}", what, error->story()));
  return false;
}

bool Operator::wrote(const std::string& kind, const std::string& what, const kube::Answer<Value>& answer) {
  return wrote(kind, what, answer ? nullptr : &answer.error());
}

bool Operator::look_at_node(const std::string& name, std::stop_token stop) {
  const std::shared_ptr<const PolicySet> set = policies();
  NodeView view{.name = name,
                .ns = settings_.ns,
                .upstream_operator = cluster_.upstream_operator(),
                .upstream_daemon = cluster_.upstream_daemon(name),
                .keep = settings_.keep_states,
                .now = clock_.wall()};
  {
    const std::lock_guard lock(mutex_);
    if (settled_at_ != kube::Instant{}) {
      unseen_.erase(name);  // all are looked at again when it has settled
      return true;
    }
    view.without_policies = without_policies_;
  }
  const kube::ObjectPtr node = cluster_.node(name);
  const kube::ObjectPtr state = cluster_.node_state(name);
  if (node != nullptr && graph::labels_match(settings_.node_selector, kube::labels_of(*node))) view.node = node.get();
  view.state = state.get();
  NodeDecision decision = decide(view, *set);
  for (const std::string& policy : outcomes_.put(name, std::move(decision.outcomes)))
    queue_.add({Task::Type::kPolicy, policy}, settings_.status_pause);
  tell_held(name, state, decision.held);
  if (decision.again) queue_.add({Task::Type::kNode, name}, *decision.again);
  const bool done = write_node(name, state, std::move(decision), stop);
  if (done) {
    const std::lock_guard lock(mutex_);
    unseen_.erase(name);
  }
  return done;
}

// The same spec again means that somebody else writes another one, or that the cache has not heard of ours yet.
bool Operator::too_soon(const std::string& name, const Value& body) {
  const size_t hash = std::hash<std::string>()(doc::to_json(body));
  milliseconds pause{};
  kube::Instant at{};
  int times = 0;
  {
    const std::lock_guard lock(mutex_);
    LastWrite& last = last_writes_[name];
    if (last.times == 0 || last.hash != hash) {
      last = {.hash = hash, .at = clock_.now(), .times = 1};
      return false;
    }
    pause = kFirstRewrite * (1 << std::min(last.times - 1, kLongestRewrite));
    at = last.at;
    times = last.times;
    if (clock_.now() - at >= pause) {
      last.at = clock_.now();
      ++last.times;
    }
  }
  const auto since = std::chrono::duration_cast<milliseconds>(clock_.now() - at);
  if (since < pause) {
    queue_.add({Task::Type::kNode, name}, pause - since);
    return true;
  }
  if (times > 1)
    tell_(Importance::kWarning, fmt::format("node state {}: another client keeps changing its spec", name));
  return false;
}

bool Operator::write_node(const std::string& name, const kube::ObjectPtr& state, NodeDecision decision,
                          std::stop_token stop) {
  if (decision.action == Action::kNone) return true;
  if (decision.action == Action::kApply && too_soon(name, decision.body)) return true;
  if (!may_write()) return true;
  const std::string what = fmt::format("node state {}: {}", name, decision.what);
  const kube::ObjectKey key{settings_.ns, name};
  bool done = false;
  switch (decision.action) {
    case Action::kApply:
      done = wrote("SriovNetworkNodeState", what,
                   writer_.apply(kube::kNodeStates, std::move(decision.body), kObject, stop));
      break;
    case Action::kPatch:
      done = wrote(
          "SriovNetworkNodeState", what,
          writer_.patch(kube::kNodeStates, key, kube::PatchType::kMerge, decision.body, kube::Part::kObject, stop));
      break;
    case Action::kDelete: {
      const auto removed = writer_.remove(
          kube::kNodeStates, key,
          {.uid = kube::uid_of(*state), .resource_version = kube::resource_version(*state), .grace_seconds = {}}, stop);
      done = wrote("SriovNetworkNodeState", what, removed ? nullptr : &removed.error());
      break;
    }
    case Action::kNone:
      break;
  }
  if (done) tell_(Importance::kInfo, what);
  if (done && decision.action == Action::kDelete) {
    const std::lock_guard lock(mutex_);
    last_writes_.erase(name);
  }
  if (!done) {
    const std::lock_guard lock(mutex_);
    last_writes_.erase(name);  // it counts only what was written
  }
  return done;
}

void Operator::tell_held(const std::string& name, const kube::ObjectPtr& state, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = held_.find(name);
    if (known != held_.end() ? known->second == why : why.empty()) return;
    if (why.empty()) {
      held_.erase(known);
      return;
    }
    held_[name] = why;
  }
  tell_(Importance::kWarning, fmt::format("node state {}: held: {}", name, why));
  // While the SR-IOV operator runs it is so for all of them: one Event at the namespace says so.
  if (state != nullptr && !cluster_.upstream_operator())
    event(kube::EventType::kWarning, "Held", why, kube::regarding(*state));
}

CellReclaimer::World Operator::cells_world() {
  return {.reader = reader_,
          .writer = writer_,
          .clock = clock_,
          .node = [this](const std::string& name) { return cluster_.node(name); },
          .may_write = [this] { return may_write(); },
          .wrote = [this](const std::string& what, const kube::ApiError* error) { wrote("AddressCell", what, error); },
          .ended =
              [this](const EndedLeases& ended) {
                const std::string note =
                    fmt::format("{} addresses in {} cells leased by node {} (machine {}) were released: {}",
                                ended.addresses, ended.cells, ended.holder.node, ended.holder.system_uuid, ended.why);
                tell_(Importance::kWarning, note);
                const std::string uid = ended.node != nullptr ? kube::uid_of(*ended.node) : "";
                event(kube::EventType::kWarning, "AddressesFreed" + ended.reason, note,
                      {"v1", "Node", {"", ended.holder.node}, uid});
              }};
}

bool Operator::look_at_cells(std::stop_token stop) {
  const std::string before = cells_.standing().error;
  const Result<milliseconds> next = cells_.look(stop);
  if (next.has_value()) {
    look_at_pool_entries(stop);
    queue_.add({Task::Type::kCells, ""}, *next);
    return true;
  }
  if (next.error().code != Code::kCanceled && next.error().story() != before)
    tell_(Importance::kWarning, "leases of addresses: " + next.error().story());
  return false;
}

// What fails here is done with the next look.
void Operator::look_at_pool_entries(std::stop_token stop) {
  const Result<size_t> gone =
      take_stale_pool_entries({reader_, writer_, [this] { return may_write(); }}, std::move(stop));
  std::string error = gone.has_value() || gone.error().code == Code::kCanceled ? "" : gone.error().story();
  if (!error.empty() && error != pools_error_) tell_(Importance::kWarning, "reserved addresses: " + error);
  pools_error_ = std::move(error);
  if (gone.has_value() && *gone > 0)
    tell_(Importance::kInfo, fmt::format("released {} expired reservations in whereabouts' pools", *gone));
}

// A list of the pods from time to time, since what is looked for lasts as long as a pod: no cache of all pods is kept.
bool Operator::look_at_identities(std::stop_token stop) {
  Identities identities;
  const auto seen = reader_.visit(
      kube::kPods, {}, identity_trim(),
      [&](const Value& pod) {
        identities.add(pod);
        return kube::Visit::kGoOn;
      },
      std::move(stop));
  if (!seen) return false;
  std::vector<SharedIdentity> shared = identities.shared();
  std::vector<SharedIdentity> fresh;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::set_difference(shared, shared_identities_, std::back_inserter(fresh));
    shared_identities_ = std::move(shared);
  }
  // At the namespace of railbed: a pod's author is not told the names of others' pods.
  for (const SharedIdentity& one : fresh)
    tell_of_namespace("IdentityShared", fmt::format("pods of two nodes use the same {}", to_text(one)));
  queue_.add({Task::Type::kIdentities, ""}, settings_.identities_period);
  return true;
}

bool Operator::look_at_networks(std::stop_token stop) {
  if (cluster_.upstream_operator()) return true;  // looked at again when it is gone
  std::set<std::string> namespaces;
  for (const auto& [key, one] : cluster_.namespaces()) namespaces.insert(key.name);
  const kube::Objects networks = cluster_.networks(), ib_networks = cluster_.ib_networks();
  const kube::Objects definitions = cluster_.definitions();
  const Result<KindDefinition> kind = definition_of(kube::kSriovNetworks, stop);
  const Result<KindDefinition> ib_kind = definition_of(kube::kSriovIbNetworks, stop);
  for (const auto& one : {kind, ib_kind})
    if (!one && one.error().code != Code::kNotFound && one.error().code != Code::kConflict) return false;
  const KindDefinition none;
  const NetworksPlan plan = plan_networks({.networks = networks,
                                           .ib_networks = ib_networks,
                                           .definitions = definitions,
                                           .namespaces = namespaces,
                                           .operator_ns = settings_.ns,
                                           .resource_prefix = settings_.resource_prefix,
                                           .kind = kind ? *kind : none,
                                           .ib_kind = ib_kind ? *ib_kind : none});
  if (!kind || !ib_kind) queue_.add({Task::Type::kNetworks, ""}, settings_.settle);
  tell_kept(plan.kept);
  return write_networks(plan, stop);
}

void Operator::tell_kept(const std::vector<kube::ObjectPtr>& definitions) {
  std::set<std::string> kept;
  std::vector<kube::ObjectPtr> fresh;
  {
    const std::lock_guard lock(mutex_);
    for (const kube::ObjectPtr& one : definitions) {
      kept.insert(kube::uid_of(*one));
      if (!kept_.contains(kube::uid_of(*one))) fresh.push_back(one);
    }
    kept_ = std::move(kept);
  }
  for (const kube::ObjectPtr& one : fresh) {
    const std::string why = why_kept(*one);
    tell_(Importance::kWarning, fmt::format("definition {}: kept: {}", kube::key_of(*one).to_string(), why));
    event(kube::EventType::kWarning, "KeptWithoutNetwork", why, kube::regarding(*one));
  }
}

bool Operator::write_networks(const NetworksPlan& plan, std::stop_token stop) {
  bool done = true;
  for (const Value& definition : plan.applies) {
    if (!may_write()) return true;
    const std::string what = "definition " + kube::key_of(definition).to_string();
    const bool one =
        wrote("NetworkAttachmentDefinition", what, writer_.apply(kube::kNetworkDefinitions, definition, kObject, stop));
    if (one) tell_(Importance::kInfo, what);
    done = done && one;
  }
  for (const AttachmentWrites::Deletion& deletion : plan.deletions) {
    if (!may_write()) return true;
    const kube::ObjectKey key{deletion.ns, deletion.name};
    const auto removed =
        writer_.remove(kube::kNetworkDefinitions, key,
                       {.uid = deletion.uid, .resource_version = deletion.resource_version, .grace_seconds = {}}, stop);
    const bool gone = removed || removed.error().code == Code::kNotFound;
    const std::string what = fmt::format("definition {}: deleted, its network no longer exists", key.to_string());
    done = wrote("NetworkAttachmentDefinition", what, gone ? nullptr : &removed.error()) && done;
    if (gone) tell_(Importance::kInfo, what);
  }
  // With the finalizer the last trace of what is to be deleted goes.
  for (const FinalizerPatch& one : plan.finalizers) {
    if (!done || !may_write()) break;
    const kube::Resource& kind = one.infiniband ? kube::kSriovIbNetworks : kube::kSriovNetworks;
    const kube::ObjectKey key = kube::key_of(*one.network);
    done =
        wrote(std::string(kind.kind), fmt::format("{} {}: the SR-IOV operator's finalizer", kind.kind, key.to_string()),
              writer_.patch(kind, key, kube::PatchType::kMerge, one.patch, kube::Part::kObject, stop)) &&
        done;
  }
  for (const NetworkOutcome& outcome : plan.outcomes) done = write_network_status(outcome, stop) && done;
  return done;
}

bool Operator::write_network_status(const NetworkOutcome& outcome, std::stop_token stop) {
  Value status = network_status(outcome, kube::second_time(clock_.wall()));
  if (status.is_null()) return true;
  const kube::Resource& kind = outcome.infiniband ? kube::kSriovIbNetworks : kube::kSriovNetworks;
  const std::string uid = kube::uid_of(*outcome.network);
  const std::string text = condition_text(status);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = told_.find(uid); known != told_.end() && known->second == text) return true;
  }
  if (!may_write()) return true;
  const auto answer = writer_.apply(kind, status_object(*outcome.network, std::move(status)), kStatus, stop);
  const bool gone = !answer && (answer.error().code == Code::kNotFound || answer.error().code == Code::kConflict);
  if (gone) return true;  // another object is there, or none: its change is a task of its own
  const std::string what = fmt::format("status of {} {}", kind.kind, kube::key_of(*outcome.network).to_string());
  if (!wrote(std::string(kind.kind), what, answer)) return false;
  const std::lock_guard lock(mutex_);
  if (keeps_status(*answer)) {
    told_.erase(uid);
    return true;
  }
  told_[uid] = text;
  event(outcome.verdict.status == "True" ? kube::EventType::kNormal : kube::EventType::kWarning, outcome.verdict.reason,
        outcome.verdict.message.empty() ? "its definition exists" : outcome.verdict.message,
        kube::regarding(*outcome.network));
  return true;
}

bool Operator::write_policy_status(const std::string& key, std::stop_token stop) {
  if (cluster_.upstream_operator()) return true;  // it would be a second writer
  const kube::ObjectPtr policy = cluster_.policy({settings_.ns, key.substr(key.find('/') + 1)});
  if (policy == nullptr) return true;
  {
    const std::lock_guard lock(mutex_);
    if (!unseen_.empty()) {  // half of the truth
      queue_.add({Task::Type::kPolicy, key}, settings_.status_pause);
      return true;
    }
  }
  const std::shared_ptr<const PolicySet> set = policies();
  const Value* stored = doc::object_in(*policy, "status");
  const Value* meta = doc::object_in(*policy, "metadata");
  const std::string now = kube::second_time(clock_.wall());
  const Value before = stored != nullptr ? *stored : Value();
  const int generation = doc::number_in(*meta, "generation");
  Value status = policy_status({.generation = generation, .status = before, .now = now, .nodes = outcomes_.of(key)});
  const auto unreadable = std::ranges::find(set->unreadable(), key, &PolicySet::Unreadable::key);
  if (unreadable != set->unreadable().end())
    status.set("conditions", Value::array())
        .push(ready_condition(before, generation, now, {"False", "Invalid", unreadable->why}));
  if (status == before) return true;
  const std::string uid = kube::uid_of(*policy);
  const std::string text = condition_text(status);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = told_.find(uid); known != told_.end() && known->second == text) return true;
  }
  if (!may_write()) return true;
  const auto answer = writer_.apply(kube::kPolicies, status_object(*policy, std::move(status)), kStatus, stop);
  if (!answer && (answer.error().code == Code::kNotFound || answer.error().code == Code::kConflict)) return true;
  if (!wrote("SriovNetworkNodePolicy", "status of policy " + key, answer)) return false;
  const std::lock_guard lock(mutex_);
  if (keeps_status(*answer)) {
    told_.erase(uid);
    return true;
  }
  told_[uid] = text;
  event(text.starts_with("Applied") ? kube::EventType::kNormal : kube::EventType::kWarning,
        text.substr(0, text.find(':')), text, kube::regarding(*policy));
  return true;
}

}  // namespace railbed::controller
