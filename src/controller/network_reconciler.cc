// SPDX-License-Identifier: Apache-2.0
#include "controller/network_reconciler.h"

#include "base/format.h"

namespace railbed::controller {

using doc::Value;
using kube::Change;

namespace {

constexpr kube::milliseconds kGather{200};

}  // namespace

NetworkReconciler::NetworkReconciler(Manager& manager, const Upstream& upstream, Settings settings)
    : manager_(manager), upstream_(upstream), settings_(std::move(settings)), statuses_(manager) {}

std::span<const kube::Right> NetworkReconciler::rights() const {
  using kube::Verb;
  constexpr std::string_view finalizer = "patch: the SR-IOV operator's finalizer";
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kNetworkDefinitions, .verbs = Verb::kApply | Verb::kDelete},
      {.kind = kube::kSriovNetworks, .verbs = Verb::kPatch, .why = finalizer},
      {.kind = kube::kSriovIbNetworks, .verbs = Verb::kPatch, .why = finalizer},
      {.kind = kube::kSriovNetworks, .verbs = Verb::kApply, .part = kube::Part::kStatus},
      {.kind = kube::kSriovIbNetworks, .verbs = Verb::kApply, .part = kube::Part::kStatus},
  };
  return kRights;
}

std::span<const OptionalRead> NetworkReconciler::optional_kinds() const {
  using enum OptionalRead::Without;
  static constexpr OptionalRead kReads[] = {
      {OptionalKind::kNetworks, kGoesOn}, {OptionalKind::kIbNetworks, kGoesOn}, {OptionalKind::kDefinitions, kWaits}};
  return kReads;
}

void NetworkReconciler::watch() {
  for (const OptionalKind kind : {OptionalKind::kNetworks, OptionalKind::kIbNetworks, OptionalKind::kDefinitions})
    manager_.cluster().observe(kind, [this](const Change&) { manager_.later(name(), "", kGather); });
  manager_.cluster().observe(Known::kNamespaces, [this](const Change& change) {
    if (change.type != Change::Type::kChanged) manager_.later(name(), "", kGather);
  });
}

void NetworkReconciler::add_all() {
  manager_.later(name(), "");
}

bool NetworkReconciler::reconcile(const std::string& /*key*/, std::stop_token stop) {
  if (upstream_.runs()) return true;  // looked at again when it no longer runs
  const Cluster& cluster = manager_.cluster();
  std::set<std::string> namespaces;
  for (const auto& [key, one] : cluster.objects(Known::kNamespaces)) namespaces.insert(key.name);
  const std::optional<kube::Objects> networks = cluster.objects(OptionalKind::kNetworks);
  const std::optional<kube::Objects> ib_networks = cluster.objects(OptionalKind::kIbNetworks);
  const std::optional<kube::Objects> definitions = cluster.objects(OptionalKind::kDefinitions);
  if (!definitions) return false;  // it is not listed any more: the manager waits for it
  // After the lists: what they lack may have gone with the kind.
  const KindDefinition none;
  const auto definition_of = [&](const std::optional<kube::Objects>& list, const kube::Resource& of) {
    return list ? manager_.definition_of(of, stop) : Result<KindDefinition>(none);
  };
  const Result<KindDefinition> kind = definition_of(networks, kube::kSriovNetworks);
  const Result<KindDefinition> ib_kind = definition_of(ib_networks, kube::kSriovIbNetworks);
  for (const auto& one : {kind, ib_kind})
    if (!one && one.error().code != Code::kNotFound && one.error().code != Code::kConflict) return false;
  const std::set<std::string> served = upstream_.namespaces().served;
  const NetworksPlan plan = plan_networks({.networks = networks ? &*networks : nullptr,
                                           .ib_networks = ib_networks ? &*ib_networks : nullptr,
                                           .definitions = *definitions,
                                           .namespaces = namespaces,
                                           .operator_namespaces = served,
                                           .resource_prefix = settings_.resource_prefix,
                                           .kind = kind ? *kind : none,
                                           .ib_kind = ib_kind ? *ib_kind : none});
  if (!kind || !ib_kind) manager_.later(name(), "", settings_.retry);
  report_kept(plan.kept);
  return write(plan, std::move(stop));
}

void NetworkReconciler::report_kept(const std::vector<kube::ObjectPtr>& definitions) {
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
    manager_.report(Importance::kWarning, fmt::format("definition {}: kept: {}", kube::key_of(*one).to_string(), why));
    manager_.event(kube::EventType::kWarning, "KeptWithoutNetwork", why, kube::regarding(*one));
  }
}

bool NetworkReconciler::write(const NetworksPlan& plan, std::stop_token stop) {
  bool done = true;
  for (const Value& definition : plan.applies) {
    const WriteOf of{kube::kNetworkDefinitions, "definition " + kube::key_of(definition).to_string()};
    const bool one = manager_.apply(of, definition, stop).has_value();
    if (one) manager_.report(Importance::kInfo, of.what);
    done = done && one;
  }
  for (const AttachmentWrites::Deletion& deletion : plan.deletions) {
    const kube::ObjectKey key{deletion.ns, deletion.name};
    const WriteOf of{kube::kNetworkDefinitions,
                     fmt::format("definition {}: deleted, its network no longer exists", key.to_string())};
    const bool one =
        manager_
            .remove(of, key, {.uid = deletion.uid, .resource_version = deletion.resource_version, .grace_seconds = {}},
                    stop)
            .has_value();
    if (one) manager_.report(Importance::kInfo, of.what);
    done = done && one;
  }
  // With the finalizer the last trace of what is to be deleted goes.
  for (const FinalizerPatch& one : plan.finalizers) {
    if (!done) break;
    const kube::Resource& kind = one.infiniband ? kube::kSriovIbNetworks : kube::kSriovNetworks;
    const kube::ObjectKey key = kube::key_of(*one.network);
    const WriteOf of{kind, fmt::format("{} {}: the SR-IOV operator's finalizer", kind.kind, key.to_string())};
    done = manager_.patch(of, key, one.patch, stop).has_value();
  }
  for (const NetworkOutcome& outcome : plan.outcomes) done = write_status(outcome, stop) && done;
  return done;
}

bool NetworkReconciler::write_status(const NetworkOutcome& outcome, std::stop_token stop) {
  Value status = network_status(outcome, kube::second_time(manager_.clock().wall()));
  if (status.is_null()) return true;
  const kube::Resource& kind = outcome.infiniband ? kube::kSriovIbNetworks : kube::kSriovNetworks;
  return statuses_.apply(
      {.kind = kind,
       .what = fmt::format("status of {} {}", kind.kind, kube::key_of(*outcome.network).to_string()),
       .of = outcome.network,
       .status = std::move(status),
       .type = outcome.readiness.status == "True" ? kube::EventType::kNormal : kube::EventType::kWarning,
       .reason = outcome.readiness.reason,
       .note = outcome.readiness.message.empty() ? "its definition exists" : outcome.readiness.message},
      std::move(stop));
}

}  // namespace railbed::controller
