// SPDX-License-Identifier: Apache-2.0
#include "node/standalone.h"

#include <algorithm>
#include <set>

#include "facts/collect.h"
#include "node/carry_out.h"
#include "node/plan_note.h"
#include "node/pod_vfs.h"
#include "node/pods.h"
#include "plan/baseline.h"
#include "state/sandbox.h"

namespace railbed::node {

namespace {

apply::milliseconds since(os::Kernel& kernel, std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<apply::milliseconds>(kernel.clock().now() - start);
}

// The manifests also have pods of other nodes; a note tells users who look for one here where it is.
void note_other_pods(const Resolved& now, UpReport& report) {
  std::set<const api::Pod*> here;
  for (const graph::PodOnNode& pod : now.graph().pods) here.insert(pod.pod);
  for (const api::Pod* pod : now.catalog().pods) {
    if (pod->networks.empty() || here.contains(pod)) continue;
    std::string why =
        pod->node_name.present ? "is for node " + *pod->node_name : "has a nodeSelector that does not take this node";
    report.notes.push_back(fmt::format("pod {} {}", pod->key(), why));
  }
}

Result<void> remember(state::Store& store, const UpReport& report) {
  PlanNote note{.node = report.plan.node, .policies = report.plan.policies};
  for (const plan::HeldBack& held : report.plan.held_back) note.held_back.push_back(held.to_string());
  for (const PodFailure& failure : report.pods.failures) {
    std::string where = failure.interface.empty() ? "" : failure.interface + ": ";
    note.pod_errors[failure.pod] = where + failure.error.to_string();
  }
  return store.put_note(kPlanNote, to_json(note));
}

}  // namespace

bool PodsReport::did_anything() const {
  return !recovered.empty() || !attached.empty() || !detached.empty() || !notes.empty() || !failures.empty();
}

bool UpReport::did_nothing() const {
  return applied.steps_done == 0 && pods.recovered.empty() && pods.attached.empty() && pods.detached.empty();
}

bool UpReport::complete() const {
  return applied.complete() && pods.complete() && !diagnostics.has_errors();
}

Result<std::unique_ptr<Resolved>> look(os::Kernel& kernel, state::Store* store, const api::Objects& objects,
                                       const Settings& settings) {
  const plan::InUse in_use = store != nullptr ? TRY(in_use_by(*store)) : plan::InUse{};
  return std::make_unique<Resolved>(
      objects, facts::collect(kernel, {.node = settings.node}), in_use,
      graph::Options{.resource_prefix = settings.resource_prefix, .soft_rdma = settings.soft_rdma},
      plan::Options{.disrupt = settings.disrupt});
}

Result<UpReport> up(os::Kernel& kernel, state::Store& store, std::unique_ptr<Resolved> seen, const Settings& settings,
                    Progress& progress) {
  auto start = kernel.clock().now();
  UpReport report;
  std::unique_ptr<Resolved> now = std::move(seen);
  const auto look_again = [&]() -> Result<void> {
    progress.says("reading what this machine is");
    now = TRY(look(kernel, &store, now->resolution.objects, settings));
    return {};
  };
  TRY(recover_pods(kernel, store, report.pods).context("finishing what an earlier run left"));
  if (report.pods.did_anything()) TRY(look_again());
  TRY(release_unwanted(kernel, store, *now, settings, progress, report.pods));
  TRY(release_disturbed(kernel, store, now->plan, settings, progress, report.pods));
  if (!report.pods.detached.empty()) TRY(look_again());  // detaching has freed VFs
  report.diagnostics = now->diagnostics;
  note_other_pods(*now, report);
  report.applied = TRY(carry_out(kernel, store, now->plan, {}, settings.apply, progress)).applied;
  now->unfinished = unfinished_vfs(now->plan, report.applied);
  if (!report.applied.canceled) TRY(attach_wanted(kernel, store, *now, settings, progress, report.pods));
  for (plan::HeldBack& held : TRY(held_mtus(store, *now))) now->plan.held_back.push_back(std::move(held));
  report.plan = std::move(now->plan);
  report.diagnostics.sort();
  TRY(remember(store, report));
  report.took = since(kernel, start);
  return report;
}

bool DownReport::did_nothing() const {
  return applied.steps_done == 0 && pfs == 0 && pods.recovered.empty() && pods.detached.empty();
}

Result<DownReport> down(os::Kernel& kernel, state::Store& store, const Settings& settings, Progress& progress) {
  auto start = kernel.clock().now();
  DownReport report;
  TRY(recover_pods(kernel, store, report.pods).context("finishing what an earlier run left"));
  TRY(release_all(kernel, store, settings, progress, report.pods));
  const std::vector<PfBaseline> baselines = TRY(store.baselines());
  progress.says("reading what this machine is");
  facts::NodeFacts facts = facts::collect(kernel, {.node = settings.node});
  plan::NodePlan plan = plan::plan_to_baseline(baselines, facts, TRY(in_use_by(store)), {.disrupt = settings.disrupt});
  for (const plan::HeldBack& held : plan.held_back) report.held_back.push_back(held.to_string());
  Carried carried = TRY(carry_out(kernel, store, plan, baselines, settings.apply, progress));
  report.applied = std::move(carried.applied);
  report.pfs = carried.restored.size();
  if (report.complete()) {
    for (const state::AddressLease& lease : TRY(store.all_leases()))
      if (state::Sandbox::of_key(lease.pod).container.empty()) TRY(store.forget_leases(lease.pod, lease.interface));
    TRY(store.put_note(kPlanNote, ""));
  }
  report.took = since(kernel, start);
  return report;
}

}  // namespace railbed::node
