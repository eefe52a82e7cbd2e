// SPDX-License-Identifier: Apache-2.0
#include "controller/node_states.h"

#include <algorithm>

#include "api/cluster_labels.h"
#include "api/node_state.h"
#include "api/wanted.h"
#include "base/format.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "drain/maintenance.h"
#include "facts/node_facts.h"
#include "graph/node_state.h"

namespace railbed::controller {

using doc::Value;
using State = graph::PolicyOutcome::State;
using Action = NodeDecision::Action;

namespace {

std::string label(const Value& object, std::string_view name) {
  return doc::text_in(doc::at(object, "metadata.labels"), name);
}

bool is_ours(const Value& state) {
  return label(state, api::kManagedByLabel) == api::kManagedByRailbed;
}

using Annotations = std::map<std::string_view, std::string>;

// Our part of a node state, for server-side apply. Without `graph` the spec says nothing, and there are no `orders`.
Value wanted_object(const NodeView& view, const graph::Graph* graph, const Annotations& orders = {}) {
  Value object = Value::object();
  Value& meta = object.set("metadata", Value::object());
  meta.set("labels", Value::object()).set(api::kManagedByLabel, api::kManagedByRailbed);
  meta.set("name", view.name);
  meta.set("namespace", view.ns);
  // Only this one: a node state that was deleted meanwhile would be made again with what its predecessor's status said.
  if (view.state != nullptr) meta.set("uid", kube::uid_of(*view.state));
  if (graph == nullptr) {
    object.set("spec", Value::object());
    return object;
  }
  Value annotations = Value::object();
  for (const auto& [name, value] : orders)
    if (!value.empty()) annotations.set(name, value);
  if (!annotations.as_object()->empty()) meta.set("annotations", std::move(annotations));
  object.set("spec", api::node_state_spec(graph::state_of(*graph), view.rdma_mode));
  return object;
}

// Sets an annotation, or takes it off where `value` is null, if the object has not changed meanwhile.
NodeDecision patch_annotation(const NodeView& view, std::string_view name, Value value, std::string what) {
  Value body = Value::object();
  Value& meta = body.set("metadata", Value::object());
  meta.set("annotations", Value::object()).set(name, std::move(value));
  meta.set("resourceVersion", kube::resource_version(*view.state));
  return {.action = Action::kPatch, .body = std::move(body), .what = std::move(what)};
}

// A node state whose node is gone: kept until a time that is written on it.
NodeDecision decide_stale(const NodeView& view) {
  if (view.state == nullptr || view.upstream_operator || !is_ours(*view.state)) return {};
  const std::string text = kube::annotation_of(*view.state, api::kKeepStateUntil);
  const std::optional<kube::WallTime> until = kube::read_time(text);
  if (!until)
    return patch_annotation(view, api::kKeepStateUntil, kube::second_time(view.now + view.keep),
                            fmt::format("its node no longer exists; retained for {} min", view.keep.count() / 60));
  if (view.now < *until)
    return {.again = std::chrono::ceil<std::chrono::seconds>(*until - view.now) + std::chrono::seconds(1)};
  return {.action = Action::kDelete, .what = "deleted: its node does not exist since before " + text};
}

// How far the node is with the spec that is stored.
NodeProgress progress_of(const api::SriovNetworkNodeState& state) {
  const bool reported = state.observed_generation > 0;
  if (!state.decided || (reported && state.observed_generation < state.generation)) return NodeProgress::kNotYet;
  if (state.sync_status == "Succeeded") return NodeProgress::kDone;
  return state.sync_status == "Failed" ? NodeProgress::kFailed : NodeProgress::kNotYet;
}

// What the node itself says of a policy goes before what holds for all its policies together.
void add_progress(NodeOutcome& outcome, const api::SriovNetworkNodeState& state, const std::string& drain) {
  outcome.progress = progress_of(state);
  if (outcome.progress == NodeProgress::kFailed) outcome.error = copied_text(state.last_sync_error);
  // A change that waits for pods is InProgress for as long as they run: what it waits for is said meanwhile.
  const bool is_of_this_spec = state.observed_generation > 0 && state.observed_generation >= state.generation;
  if (outcome.progress == NodeProgress::kNotYet && !(state.decided && is_of_this_spec)) return;
  const auto reported = std::ranges::find_if(state.policies, [&](const api::NodeStatePolicy& one) {
    return outcome.outcome.policy.ends_with("/" + one.name);
  });
  if (reported == state.policies.end()) return;
  const bool is_held = reported->state == api::NodeStatePolicy::State::kHeld;
  if (outcome.progress == NodeProgress::kNotYet && !is_held) return;
  outcome.progress = NodeProgress::kDone;
  outcome.error.clear();
  if (reported->state == api::NodeStatePolicy::State::kFailed) {
    outcome.progress = NodeProgress::kFailed;
    outcome.error = copied_text(reported->message);
  } else if (is_held && outcome.outcome.state == State::kApplied) {
    outcome.outcome.state = State::kPartly;
    outcome.outcome.detail = copied_text(reported->message);
    if (!drain.empty()) outcome.outcome.detail = fmt::format("{}; {}", drain, outcome.outcome.detail);
  }
}

class Decider {
 public:
  Decider(const NodeView& view, const PolicySet& policies)
      : view_(view), policies_(policies), labels_(kube::labels_of(*view.node)) {}

  NodeDecision run() {
    const std::string managed = label(*view_.node, api::kManagedLabel);
    if (std::string why = api::why_not_managed({.managed = managed,
                                                .has_state = view_.state != nullptr,
                                                .is_ours = view_.state != nullptr && is_ours(*view_.state),
                                                .upstream_daemon = view_.upstream_daemon,
                                                .upstream_operator = view_.upstream_operator});
        !why.empty())
      return hold(std::move(why));
    if (!view_.left_alone.empty()) return leave_alone();
    if (view_.state == nullptr)
      return pending({.action = Action::kApply, .body = wanted_object(view_, nullptr), .what = "created"});
    doc::Diagnostics found;
    const auto state = api::parse_node_state(*view_.state, found);
    if (!state) return hold("its node state cannot be read: " + doc::first_error(found).error().message);
    if (!kube::annotation_of(*view_.state, api::kKeepStateUntil).empty())
      return pending(patch_annotation(view_, api::kKeepStateUntil, {}, "its node exists again"));
    if (says_left_alone())
      return pending(
          patch_annotation(view_, api::kWantedAnnotation, api::to_text(wanted()), "its node is selected again"));
    return with(*state);
  }

 private:
  api::Wanted wanted() const {
    return {.resource_prefix = policies_.catalog().options.resource_prefix,
            .log_level = view_.log_level,
            .left_alone = !view_.left_alone.empty()};
  }
  bool says_left_alone() const {
    const Result<api::Wanted> written = api::read_wanted(kube::annotation_of(*view_.state, api::kWantedAnnotation));
    return written.has_value() && written->left_alone;
  }
  // Its spec stays, and its agent hears that it must neither change nor offer VFs, as with the label that says so.
  NodeDecision leave_alone() {
    NodeDecision out = hold(view_.left_alone);
    if (view_.state == nullptr || !is_ours(*view_.state) || says_left_alone()) return out;
    NodeDecision patch =
        patch_annotation(view_, api::kWantedAnnotation, api::to_text(wanted()), "its node is left alone");
    patch.held = std::move(out.held);
    patch.outcomes = std::move(out.outcomes);
    return patch;
  }

  NodeDecision with(const api::SriovNetworkNodeState& state) {
    if (state.nics.empty()) {
      if (state.decided || is_ours(*view_.state)) return pending({});
      return pending({.action = Action::kApply, .body = wanted_object(view_, nullptr), .what = "taken over"});
    }
    for (const PolicySet::Unreadable& one : policies_.unreadable())
      if (graph::labels_match(one.node_selector, labels_))
        return hold(fmt::format("policy {} cannot be read: {}", one.key, one.why));
    if (std::string why = why_taken(state); !why.empty()) return hold(std::move(why));
    const bool confirmed = kube::annotation_of(*view_.state, kConfirmEmpty) == "true";
    if (policies_.empty()) {
      if (state.pfs.empty()) return confirmed ? confirmation_done() : NodeDecision{};
      if (!confirmed && view_.without_policies == WithoutPolicies::kKeepSpecs)
        return hold(fmt::format("no policies are left; annotate the node state {}=true to allow the removal of its VFs",
                                kConfirmEmpty));
    } else if (confirmed) {
      return confirmation_done();
    }
    return resolve(state);
  }

  // Why VFs stay that are there by a policy which an SR-IOV operator has taken back with its namespace.
  std::string why_taken(const api::SriovNetworkNodeState& state) const {
    for (const PolicySet::Taken& one : policies_.taken())
      if (graph::labels_match(one.node_selector, labels_) && has_vfs_by(state, one.name) && !is_served(one.name))
        return fmt::format(
            "it has VFs by policy {}, which does not count now ({}); copy the policy to namespace {}, or remove the label "
            "railbed.dev/managed from the node to give it to that operator",
            one.key, one.why, view_.ns);
    return "";
  }
  static bool has_vfs_by(const api::SriovNetworkNodeState& state, const std::string& policy) {
    return std::ranges::any_of(state.pfs, [&](const api::NodeStatePf& pf) {
      return std::ranges::find(pf.groups, policy, &api::NodeStateVfGroup::policy_name) != pf.groups.end();
    });
  }
  bool is_served(const std::string& name) const {
    return std::ranges::any_of(policies_.catalog().policies, [&](const graph::Policy& policy) {
      return *policy.object->meta.name == name && graph::labels_match(policy.object->node_selector, labels_);
    });
  }

  NodeDecision resolve(const api::SriovNetworkNodeState& state) {
    const facts::NodeFacts facts = graph::facts_of(state, labels_);
    doc::Diagnostics reported;  // the same is in the outcomes
    const graph::Graph graph = graph::resolve(policies_.catalog(), facts, reported);
    const Annotations orders = graph::orders_of(graph, wanted());
    const bool same_mode = view_.rdma_mode.empty() || state.rdma_mode == view_.rdma_mode;
    const bool same = state.decided && state.pfs == graph::state_of(graph) && same_mode && is_ours(*view_.state) &&
                      std::ranges::all_of(orders, [&](const auto& order) {
                        return kube::annotation_of(*view_.state, order.first) == order.second;
                      });
    NodeDecision out;
    if (!same) {
      out.action = Action::kApply;
      out.body = wanted_object(view_, &graph, orders);
      out.what = fmt::format("its spec, {} PFs", graph.pfs.size());
    } else if (view_.rdma_mode.empty() && !state.rdma_mode.empty()) {
      out = without_rdma_mode();
    }
    for (const graph::PolicyOutcome& outcome : graph.outcomes) {
      if (!concerns(outcome)) continue;
      NodeOutcome& one = out.outcomes.emplace_back(NodeOutcome{.node = view_.name, .outcome = outcome, .error = {}});
      if (same) add_progress(one, state, view_.drain);
    }
    return out;
  }

  // Also one that the SR-IOV operator wrote, which an apply would leave to it.
  NodeDecision without_rdma_mode() const {
    Value body = Value::object();
    body.set("metadata", Value::object()).set("resourceVersion", kube::resource_version(*view_.state));
    body.set("spec", Value::object()).set("system", Value());
    return {.action = Action::kPatch, .body = std::move(body), .what = "its RDMA mode, which no pool says"};
  }

  bool concerns(const graph::PolicyOutcome& outcome) const {
    if (outcome.state == State::kOtherNode) return false;
    const auto policy = std::ranges::find(policies_.catalog().policies, outcome.policy, &graph::Policy::key);
    return graph::labels_match(policy->object->node_selector, labels_);
  }

  // Outcomes of the policies that select this node, where they were not resolved.
  NodeDecision all_in(NodeDecision out, State state, NodeProgress progress, const std::string& detail) {
    for (const graph::Policy& policy : policies_.catalog().policies)
      if (!policy.ignored && graph::labels_match(policy.object->node_selector, labels_))
        out.outcomes.push_back({.node = view_.name,
                                .outcome = {.policy = policy.key, .state = state, .detail = detail},
                                .progress = progress,
                                .error = {}});
    return out;
  }
  NodeDecision pending(NodeDecision out) { return all_in(std::move(out), State::kApplied, NodeProgress::kNotYet, ""); }
  NodeDecision hold(std::string why) {
    NodeDecision out = all_in({}, State::kPartly, NodeProgress::kDone, why);
    out.held = std::move(why);
    return out;
  }
  NodeDecision confirmation_done() { return patch_annotation(view_, kConfirmEmpty, {}, "its confirmation is used up"); }

  const NodeView& view_;
  const PolicySet& policies_;
  const graph::Labels labels_;
};

}  // namespace

NodeDecision decide(const NodeView& view, const PolicySet& policies) {
  return view.node == nullptr ? decide_stale(view) : Decider(view, policies).run();
}

kube::Trim node_state_trim() {
  std::vector<std::string> kept{"spec.interfaces",          "spec.system",          "status.system",
                                "status.syncStatus",        "status.lastSyncError", "status.policies",
                                "status.observedGeneration"};
  for (const char* key : {"pciAddress", "vendor", "deviceID", "driver", "name", "altNames", "mac", "mtu", "numVfs",
                          "totalvfs", "linkType", "linkAdminState", "eSwitchMode"})
    kept.push_back(fmt::format("status.interfaces.{}", key));
  return kube::keep_fields(std::move(kept));
}

kube::Trim node_trim() {
  return [kept = kube::keep_fields({"spec.taints.key", "spec.unschedulable", "status.nodeInfo.systemUUID",
                                    "status.nodeInfo.bootID", "status.conditions.type", "status.conditions.status",
                                    "status.conditions.lastTransitionTime"})](Value& object) {
    kept(object);
    Value* meta = object.find("metadata");
    if (meta == nullptr || !meta->is_object()) return;
    std::erase_if(*meta->as_object(), [](const Value::Member& member) {
      return member.key != "name" && member.key != "uid" && member.key != "labels" && member.key != "resourceVersion" &&
             member.key != "annotations";
    });
    // Nodes have long annotations: only what says that others maintain it (drain/maintenance.h).
    Value* annotations = meta->find("annotations");
    if (annotations == nullptr || !annotations->is_object()) return;
    std::erase_if(*annotations->as_object(),
                  [](const Value::Member& member) { return !drain::is_sign_of_maintenance(member.key); });
  };
}

}  // namespace railbed::controller
