// SPDX-License-Identifier: Apache-2.0
#include "controller/config_reconciler.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "controller/upstream_finalizers.h"
#include "doc/members.h"

namespace railbed::controller {

using doc::Value;
using kube::Change;

namespace {

constexpr OptionalKind kConfigKinds[] = {OptionalKind::kOperatorConfigs, OptionalKind::kPoolConfigs};

Readiness readiness_of_pool(const kube::ObjectKey& key, const Settings& said,
                            const std::map<std::string, std::string>& rdma_modes) {
  if (std::string why = said.namespaces.why_not(key.ns); !why.empty()) return {"False", "Ignored", std::move(why)};
  const std::string name = key.to_string();
  const auto unreadable = std::ranges::find(said.unreadable_pools, name, &Settings::UnreadablePool::key);
  if (unreadable != said.unreadable_pools.end())
    return {"False", "Invalid", unreadable->why + "; its nodes are changed one at a time"};
  const api::SriovNetworkPoolConfig* pool = said.pool(name);
  if (pool == nullptr) return {"Unknown", "Pending", "it is not read yet"};
  const auto members = said.assignments.members.find(name);
  return pool_readiness(*pool, members != said.assignments.members.end() ? members->second : PoolMembers{}, rdma_modes);
}

}  // namespace

ConfigReconciler::ConfigReconciler(Manager& manager, const Upstream& upstream, ClusterSettings& settings,
                                   kube::milliseconds pause, std::function<void(int)> verbosity)
    : manager_(manager),
      upstream_(upstream),
      settings_(settings),
      pause_(pause),
      verbosity_(std::move(verbosity)),
      statuses_(manager) {}

std::span<const kube::Right> ConfigReconciler::rights() const {
  using kube::Verb;
  constexpr std::string_view finalizer = "patch: the SR-IOV operator's finalizer";
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kOperatorConfigs, .verbs = Verb::kPatch, .why = finalizer},
      {.kind = kube::kPoolConfigs, .verbs = Verb::kPatch, .why = finalizer},
      {.kind = kube::kOperatorConfigs, .verbs = Verb::kApply, .part = kube::Part::kStatus},
      {.kind = kube::kPoolConfigs, .verbs = Verb::kApply, .part = kube::Part::kStatus},
  };
  return kRights;
}

std::span<const OptionalRead> ConfigReconciler::optional_kinds() const {
  using enum OptionalRead::Without;
  static constexpr OptionalRead kReads[] = {{OptionalKind::kOperatorConfigs, kGoesOn},
                                            {OptionalKind::kPoolConfigs, kGoesOn}};
  return kReads;
}

void ConfigReconciler::watch() {
  Cluster& cluster = manager_.cluster();
  const auto look = [this] { manager_.later(kName, "", pause_); };
  for (const OptionalKind kind : kConfigKinds) cluster.observe(kind, [look](const Change&) { look(); });
  cluster.observe(Known::kNodes, [look](const Change& change) {
    const bool same_labels =
        change.type == Change::Type::kChanged && kube::labels_of(*change.before) == kube::labels_of(*change.after);
    if (!same_labels) look();
  });
  cluster.observe(Known::kNodeStates, [look](const Change& change) {
    const auto mode = [](const kube::ObjectPtr& state) {
      return state != nullptr ? std::string(doc::text_at(*state, "status.system.rdmaMode")) : "";
    };
    if (mode(change.before) != mode(change.after)) look();
  });
}

void ConfigReconciler::add_all() {
  manager_.later(kName, "");
}

bool ConfigReconciler::reconcile(const std::string& /*key*/, std::stop_token stop) {
  const std::shared_ptr<const Settings> said = settings_.now();
  if (verbosity_) verbosity_(said->config.config.log_level.value_or(0));
  report_kept(said->config);
  if (upstream_.runs()) return true;  // it would be a second writer; looked at again when it no longer runs
  bool done = true;
  for (const OptionalKind kind : kConfigKinds) {
    const std::optional<kube::Objects> objects = manager_.cluster().objects(kind);
    if (!objects) continue;
    for (const auto& [key, object] : *objects) {
      if (said->namespaces.taken.contains(key.ns)) continue;
      const bool one =
          kind == OptionalKind::kOperatorConfigs ? write_config(object, *said, stop) : write_pool(object, *said, stop);
      done = done && one;
    }
  }
  return done;
}

void ConfigReconciler::report_kept(const ConfigChoice& choice) {
  if (std::exchange(source_, choice.source) == choice.source || choice.source != ConfigChoice::Source::kGone) return;
  manager_.report_of_namespace(
      "OperatorConfigGone",
      fmt::format("SriovOperatorConfig {} no longer counts: the SR-IOV operator runs, or the kind is not listed; its "
                  "settings stay until there is another one, or this operator restarts",
                  choice.key));
}

bool ConfigReconciler::write_config(const kube::ObjectPtr& object, const Settings& said, std::stop_token stop) {
  if (kube::is_being_deleted(*object))
    return take_finalizer(kube::kOperatorConfigs, object, kUpstreamConfigFinalizer, std::move(stop));
  return write(kube::kOperatorConfigs, object, config_readiness(kube::key_of(*object), said.config, said.namespaces),
               std::move(stop));
}

bool ConfigReconciler::write_pool(const kube::ObjectPtr& object, const Settings& said, std::stop_token stop) {
  if (kube::is_being_deleted(*object))
    return take_finalizer(kube::kPoolConfigs, object, kUpstreamPoolFinalizer, std::move(stop));
  return write(kube::kPoolConfigs, object, readiness_of_pool(kube::key_of(*object), said, rdma_modes()),
               std::move(stop));
}

bool ConfigReconciler::take_finalizer(const kube::Resource& kind, const kube::ObjectPtr& object,
                                      std::string_view finalizer, std::stop_token stop) {
  const std::optional<Value> patch = patch_without(*object, finalizer);
  if (!patch) return true;
  const kube::ObjectKey key = kube::key_of(*object);
  const WriteOf of{kind, fmt::format("{} {}: the SR-IOV operator's finalizer", kind.kind, key.to_string())};
  return manager_.patch(of, key, *patch, std::move(stop)).has_value();
}

bool ConfigReconciler::write(const kube::Resource& kind, const kube::ObjectPtr& object, const Readiness& readiness,
                             std::stop_token stop) {
  const Value* meta = doc::object_in(*object, "metadata");
  const Value* stored = doc::object_in(*object, "status");
  const Value before = stored != nullptr ? *stored : Value();
  Value conditions = Value::array();
  conditions.push(ready_condition(before, meta != nullptr ? doc::number_in(*meta, "generation") : 0,
                                  kube::second_time(manager_.clock().wall()), readiness));
  if (const Value* there = before.find("conditions"); there != nullptr && *there == conditions) return true;
  Value status = Value::object();
  status.set("conditions", std::move(conditions));
  const bool is_right = readiness.status == "True" && readiness.reason != "UsedInPart";
  return statuses_.apply({.kind = kind,
                          .what = fmt::format("status of {} {}", kind.kind, kube::key_of(*object).to_string()),
                          .of = object,
                          .status = std::move(status),
                          .type = is_right ? kube::EventType::kNormal : kube::EventType::kWarning,
                          .reason = readiness.reason,
                          .note = readiness.message},
                         std::move(stop));
}

std::map<std::string, std::string> ConfigReconciler::rdma_modes() const {
  std::map<std::string, std::string> out;
  for (const auto& [key, state] : manager_.cluster().objects(Known::kNodeStates))
    out[key.name] = doc::text_at(*state, "status.system.rdmaMode");
  return out;
}

}  // namespace railbed::controller
