// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_inputs.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/duration.h"
#include "base/eswitch_mode.h"
#include "base/format.h"
#include "controller/policy_status.h"
#include "doc/members.h"
#include "drain/maintenance.h"
#include "kube/object.h"

namespace railbed::controller {

using doc::Value;

namespace {

using PolicyState = api::NodeStatePolicy::State;

const std::string* text_of(const api::SriovNetworkPoolConfig& pool, std::string_view annotation) {
  const auto found = pool.meta.annotations.find(std::string(annotation));
  return found != pool.meta.annotations.end() ? found->second.value.as_string() : nullptr;
}

// All VFs of a PF are made again, or disturbed, where one of these differs.
bool is_changed_as_a_whole(const api::NodeStatePf& wanted, const std::vector<api::FoundNic>& nics) {
  const auto nic = std::ranges::find(nics, wanted.address, &api::FoundNic::address);
  if (nic == nics.end()) return false;
  return nic->num_vfs != wanted.num_vfs || (wanted.mtu != 0 && nic->mtu != wanted.mtu) ||
         (!nic->eswitch_mode.empty() && nic->eswitch_mode != eswitch_mode_name(wanted.eswitch_mode));
}

drain::Time second_of(const std::string& text) {
  const std::optional<kube::WallTime> time = kube::read_time(text);
  return time ? std::chrono::floor<std::chrono::seconds>(*time) : drain::Time{};
}

// "The disruption budget web needs 2 healthy pods and has 1 currently", as the API server words it.
std::optional<drain::BudgetSeen> budget_in(std::string_view text) {
  constexpr std::string_view kBegin = "The disruption budget ", kNeeds = " needs ", kHas = " healthy pods and has ";
  const size_t needs = text.find(kNeeds), has = text.find(kHas);
  if (!text.starts_with(kBegin) || needs == std::string_view::npos || has == std::string_view::npos || has < needs)
    return std::nullopt;
  drain::BudgetSeen out{.name = std::string(text.substr(kBegin.size(), needs - kBegin.size()))};
  const std::string_view desired = text.substr(needs + kNeeds.size()), healthy = text.substr(has + kHas.size());
  const auto one = std::from_chars(desired.data(), desired.data() + desired.size(), out.desired);
  const auto two = std::from_chars(healthy.data(), healthy.data() + healthy.size(), out.healthy);
  if (one.ec != std::errc() || two.ec != std::errc()) return std::nullopt;
  return out;
}

}  // namespace

bool may_concern_drains(const Value& node_state) {
  for (const std::string_view annotation : {drain::kDrainAnnotation, kDrainCondition})
    if (!kube::annotation_of(node_state, annotation).empty()) return true;
  const Value* status = doc::object_in(node_state, "status");
  const Value::Array* policies = status != nullptr ? doc::list_in(*status, "policies") : nullptr;
  return policies != nullptr &&
         std::ranges::any_of(*policies, [](const Value& one) { return doc::text_in(one, "state") == "Held"; });
}

WaitingChange waiting_change(const api::SriovNetworkNodeState& state, std::string_view resource_prefix) {
  WaitingChange out{.known = state.observed_generation > 0 && state.observed_generation >= state.generation, .id = ""};
  if (!out.known) return out;
  std::set<std::string_view> held;
  for (const api::NodeStatePolicy& policy : state.policies)
    if (policy.state == PolicyState::kHeld) held.insert(policy.name);
  const auto is_held = [&](const api::NodeStateVfGroup& group) { return held.contains(group.policy_name); };
  for (const api::NodeStatePf& pf : state.pfs) {
    if (!std::ranges::any_of(pf.groups, is_held)) continue;
    const bool whole = is_changed_as_a_whole(pf, state.nics);
    for (const api::NodeStateVfGroup& group : pf.groups)
      if (whole || is_held(group)) out.resources.insert(fmt::format("{}/{}", resource_prefix, group.resource_name));
  }
  if (!out.resources.empty()) out.id = fmt::format("generation {}", state.generation);
  return out;
}

NodeHealth node_health(const Value& node) {
  NodeHealth out{.cordoned = doc::flag_at(node, "spec.unschedulable").value_or(false)};
  const Value* status = doc::object_in(node, "status");
  if (const Value::Array* conditions = status != nullptr ? doc::list_in(*status, "conditions") : nullptr)
    for (const Value& one : *conditions)
      if (doc::text_in(one, "type") == "Ready") {
        out.ready = doc::text_in(one, "status") == "True";
        if (!out.ready) out.not_ready = second_of(doc::text_in(one, "lastTransitionTime"));
      }
  const Value* spec = doc::object_in(node, "spec");
  if (const Value::Array* taints = spec != nullptr ? doc::list_in(*spec, "taints") : nullptr)
    out.tainted =
        std::ranges::any_of(*taints, [](const Value& one) { return doc::text_in(one, "key") == drain::kRestartTaint; });
  out.others = drain::other_maintenance(kube::labels_of(node), doc::text_map_at(node, "metadata.annotations"), {});
  return out;
}

std::optional<std::string> why_no_drains(const ConfigChoice& config, bool wanted) {
  if (config.config.disable_drain)
    return fmt::format("DrainDisabled: SriovOperatorConfig {} has disableDrain: no pod is evicted", config.key);
  if (wanted || config.source == ConfigChoice::Source::kStored) return std::nullopt;
  return "";
}

drain::PoolView drain_pool(const api::SriovNetworkPoolConfig& pool) {
  drain::PoolView out{.name = pool.key(), .bound = {}};
  if (pool.max_unavailable)
    (pool.max_unavailable->percent ? out.bound.percent : out.bound.number) = pool.max_unavailable->number;
  if (const std::string* text = text_of(pool, kIgnoreUnavailable))
    if (const Result<std::chrono::seconds> after = parse_duration(*text)) out.ignore_unavailable_after = *after;
  return out;
}

bool evicts_bare_pods(const api::SriovNetworkPoolConfig& pool) {
  const std::string* text = text_of(pool, drain::kEvictBare);
  return text != nullptr && *text == "true";
}

std::vector<drain::PoolView> drain_pools(const Settings& settings,
                                         const std::map<std::string, drain::NodeView>& nodes) {
  std::vector<drain::PoolView> out;
  const auto fill = [&](drain::PoolView pool, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (const auto found = nodes.find(name); found != nodes.end()) pool.nodes.push_back(found->second);
    out.push_back(std::move(pool));
  };
  for (const auto& [key, members] : settings.assignments.members)
    if (const api::SriovNetworkPoolConfig* pool = settings.pool(key)) fill(drain_pool(*pool), members.nodes);
  fill({.name = "(no SriovNetworkPoolConfig)", .bound = {.number = 1}}, settings.assignments.in_no_pool);
  fill({.name = "(several SriovNetworkPoolConfigs)", .bound = {.number = 0}}, settings.assignments.in_two_pools);
  return out;
}

drain::EvictionSeen eviction_seen(const kube::Answer<void>& answer, drain::Time now) {
  using Kind = drain::EvictionSeen::Answer;
  drain::EvictionSeen out{.answer = Kind::kAccepted, .at = now};
  if (answer) return out;
  const kube::ApiError& error = answer.error();
  if (error.status == 0) {
    out.answer = Kind::kSent;
    return out;
  }
  const auto cause = std::ranges::find(error.causes, "DisruptionBudget", &kube::RefusalCause::reason);
  const bool names_budget = cause != error.causes.end();
  out.answer = drain::eviction_answer(error.status, names_budget, error.message);
  const std::optional<drain::BudgetSeen> budget = names_budget ? budget_in(cause->message) : std::nullopt;
  if (budget) out.budgets.push_back(*budget);
  // Other words for a budget: as they are.
  if (out.answer == Kind::kBudget && !budget) out.answer = Kind::kRefused;
  out.text = copied_text(names_budget ? cause->message : error.message);
  return out;
}

std::optional<Value> taint_patch(const Value& node, bool wanted) {
  Value taints = Value::array();
  bool has_it = false;
  const Value* spec = doc::object_in(node, "spec");
  if (const Value::Array* stored = spec != nullptr ? doc::list_in(*spec, "taints") : nullptr)
    for (const Value& one : *stored) {
      if (doc::text_in(one, "key") != drain::kRestartTaint)
        taints.push(one);
      else
        has_it = true;
    }
  if (has_it == wanted) return std::nullopt;
  if (wanted) {
    Value& own = taints.push(Value::object());
    own.set("key", std::string(drain::kRestartTaint));
    own.set("effect", "NoSchedule");
  }
  Value body = Value::object();
  body.set("metadata", Value::object()).set("resourceVersion", kube::resource_version(node));
  const bool is_empty = taints.as_array()->empty();
  body.set("spec", Value::object()).set("taints", is_empty ? Value() : std::move(taints));
  return body;
}

std::optional<Value> drain_patch(const Value& node_state, const std::string& drain, const std::string& condition) {
  Value annotations = Value::object();
  const auto put = [&](std::string_view name, const std::string& text) {
    if (kube::annotation_of(node_state, name) != text) annotations.set(name, text.empty() ? Value() : Value(text));
  };
  put(drain::kDrainAnnotation, drain);
  put(kDrainCondition, condition);
  if (annotations.as_object()->empty()) return std::nullopt;
  Value body = Value::object();
  Value& meta = body.set("metadata", Value::object());
  meta.set("annotations", std::move(annotations));
  meta.set("resourceVersion", kube::resource_version(node_state));
  return body;
}

std::string condition_text(const drain::Step& step, const std::string& stored) {
  if (step.condition.message.empty()) return "";
  std::string text = copied_text(fmt::format("{}: {}", step.condition.reason, step.condition.message));
  const bool is_said = drain::is_active(step.next) || step.condition.warning;
  return !is_said && stored.starts_with(step.condition.reason + ": ") ? stored : text;
}

}  // namespace railbed::controller
