// SPDX-License-Identifier: Apache-2.0
#include "node/standalone.h"

#include <algorithm>
#include <set>

#include "facts/collect.h"
#include "node/carry_out.h"
#include "node/handed_manifests.h"
#include "node/plan_note.h"
#include "node/pods.h"
#include "node/resource_prefix.h"
#include "plan/baseline.h"
#include "state/sandbox.h"

namespace railbed::node {

namespace {

apply::milliseconds since(os::Kernel& kernel, std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<apply::milliseconds>(kernel.clock().now() - start);
}

// The manifests also have pods of other nodes; a note shows users who look for one here where it is.
void note_other_pods(const Resolved& now, UpReport& report) {
  std::set<const api::Pod*> here;
  for (const graph::PodOnNode& pod : now.graph().pods) here.insert(pod.pod);
  for (const api::Pod* pod : now.catalog().pods) {
    if (pod->networks.empty() || here.contains(pod)) continue;
    std::string why =
        pod->node_name.present ? "is for node " + *pod->node_name : "has a nodeSelector that does not match this node";
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

bool UpReport::did_nothing() const {
  return applied.steps_done == 0 && pods.recovered.empty() && pods.attached.empty() && pods.detached.empty();
}

bool UpReport::complete() const {
  return applied.complete() && pods.complete() && !diagnostics.has_errors();
}

namespace {

// Whether the steps before those on PFs are still to come, so that what they give back is free for the others.
enum class Detaching : bool { kToCome, kTried };

std::set<std::string> disturbed_by(const plan::NodePlan& plan) {
  std::set<std::string> pods;
  for (const plan::PfPlan& pf : plan.pfs)
    for (const plan::Step& step : pf.steps) pods.insert(step.pods.begin(), step.pods.end());
  return pods;
}

// Once their pods are detached, steps disrupt no pod any more; their readers want to know anyway.
void keep_disturbed(const plan::NodePlan& before, plan::NodePlan& plan) {
  std::map<std::string, const plan::Step*> old;
  for (const plan::PfPlan& pf : before.pfs)
    for (const plan::Step& step : pf.steps) old.emplace(step.id, &step);
  for (plan::PfPlan& pf : plan.pfs)
    for (plan::Step& step : pf.steps) {
      auto found = old.find(step.id);
      if (found == old.end() || found->second->pods.empty() || !step.pods.empty()) continue;
      step.disturbs = found->second->disturbs;
      step.pods = found->second->pods;
    }
}

// What goes frees devices, which may change the steps on PFs, which may disturb more pods: so it is decided again until
// nothing more goes. Each round adds an interface or is the last.
std::unique_ptr<Seen> resolve(const api::Objects& objects, const facts::NodeFacts& facts, PodsThere there,
                              const Settings& settings, Detaching detaching) {
  std::set<RecordId> leaving;
  std::set<std::string> disturbed;
  std::unique_ptr<Seen> before;
  while (true) {
    auto now = std::make_unique<Seen>(
        objects, facts_without(facts, there, leaving), in_use_by(there, leaving),
        graph::Options{.resource_prefix = settings.resource_prefix, .soft_rdma = settings.soft_rdma},
        plan::Options{.disrupt = settings.disrupt}, settings.placement);
    if (before != nullptr) keep_disturbed(before->plan, now->plan);
    const std::set<std::string> more = disturbed_by(now->plan);
    disturbed.insert(more.begin(), more.end());
    now->pods = decide_pods(*now, {.there = there,
                                   .by = settings.by(),
                                   .disturbed = disturbed,
                                   .leaving = leaving,
                                   .detached = detaching == Detaching::kTried});
    if (detaching == Detaching::kTried || now->pods.leaving == leaving) {
      now->there = std::move(there);
      now->plan.pod_steps = now->pods.steps;
      now->plan.pods_decided = true;
      std::ranges::copy(now->pods.held_back, std::back_inserter(now->plan.held_back));
      return now;
    }
    leaving = now->pods.leaving;
    before = std::move(now);
  }
}

Result<std::unique_ptr<Seen>> look(os::Kernel& kernel, state::Store* store, const api::Objects& objects,
                                   const Settings& settings, Detaching detaching) {
  PodsThere there = TRY(pods_there(kernel, store));
  return resolve(objects, facts::collect(kernel, {.node = settings.node, .detail = facts::Detail::kForPlans}),
                 std::move(there), settings, detaching);
}

}  // namespace

std::unique_ptr<Seen> resolve(const api::Objects& objects, const facts::NodeFacts& facts, PodsThere there,
                              const Settings& settings) {
  return resolve(objects, facts, std::move(there), settings, Detaching::kToCome);
}

Result<std::unique_ptr<Seen>> look(os::Kernel& kernel, state::Store* store, const api::Objects& objects,
                                   const Settings& settings) {
  return look(kernel, store, objects, settings, Detaching::kToCome);
}

std::unique_ptr<Resolved> look_at_vfs(os::Kernel& kernel, const api::Objects& objects, const Settings& settings) {
  return std::make_unique<Resolved>(
      objects, facts::collect(kernel, {.node = settings.node, .detail = facts::Detail::kForPlans}), plan::InUse{},
      graph::Options{.resource_prefix = settings.resource_prefix, .soft_rdma = settings.soft_rdma},
      plan::Options{.disrupt = settings.disrupt});
}

Result<UpReport> up(os::Kernel& kernel, state::Store& store, std::unique_ptr<Seen> seen, const Settings& settings,
                    Progress& progress) {
  auto start = kernel.clock().now();
  UpReport report;
  std::unique_ptr<Seen> now = std::move(seen);
  TRY(before_pfs(kernel, store, now->pods, settings, progress, report.pods));
  // What could not be detached, or not as it was before, makes another machine of it than was planned for.
  if (!report.pods.failures.empty() || !report.pods.notes.empty()) {
    progress.says("reading the state of this machine");
    now = TRY(look(kernel, &store, now->resolution.objects, settings, Detaching::kTried));
  }
  report.diagnostics = now->diagnostics;
  note_other_pods(*now, report);
  report.applied = TRY(carry_out(kernel, store, now->plan, {}, settings.apply, progress)).applied;
  now->unfinished = unfinished_vfs(now->plan, report.applied);
  if (!now->unfinished.empty())  // others have to do
    now->pods = decide_pods(*now, {.there = TRY(pods_there(kernel, &store)),
                                   .by = settings.by(),
                                   .disturbed = {},
                                   .leaving = {},
                                   .detached = true});
  if (!report.applied.canceled) TRY(behind_pfs(kernel, store, now->pods, settings, progress, report.pods));
  report.plan = std::move(now->plan);
  report.diagnostics.sort();
  TRY(remember(store, report));
  report.took = since(kernel, start);
  return report;
}

size_t pending_interfaces(const plan::NodePlan& plan) {
  std::set<std::pair<std::string, std::string>> pending;
  for (const plan::PodStep& step : plan.pod_steps)
    for (const plan::PodInterface& one : step.interfaces) pending.insert({step.pod, one.interface});
  return pending.size();
}

bool DownReport::did_nothing() const {
  return applied.steps_done == 0 && pfs == 0 && pods.recovered.empty() && pods.detached.empty();
}

Result<DownReport> down(os::Kernel& kernel, state::Store& store, const Settings& settings, Progress& progress) {
  auto start = kernel.clock().now();
  DownReport report;
  TRY(recover_pods(kernel, store, report.pods).context("finishing an interrupted earlier run"));
  TRY(release_all(kernel, store, settings, progress, report.pods));
  const std::vector<PfBaseline> baselines = TRY(store.baselines());
  progress.says("reading the state of this machine");
  facts::NodeFacts facts = facts::collect(kernel, {.node = settings.node, .detail = facts::Detail::kForPlans});
  plan::NodePlan plan = plan::plan_to_baseline(baselines, facts, TRY(in_use_by(store)), {.disrupt = settings.disrupt});
  for (const plan::HeldBack& held : plan.held_back) report.held_back.push_back(held.to_string());
  Carried carried = TRY(carry_out(kernel, store, plan, baselines, settings.apply, progress));
  report.applied = std::move(carried.applied);
  report.pfs = carried.restored.size();
  if (report.complete()) {
    for (const state::AddressLease& lease : TRY(store.all_leases()))
      if (state::Sandbox::of_key(lease.pod).container.empty()) TRY(store.forget_leases(lease.pod, lease.interface));
    TRY(store.put_note(kPlanNote, ""));
    TRY(forget_handed_over(store));
    TRY(keep_given_prefix(store, ""));
  }
  report.took = since(kernel, start);
  return report;
}

}  // namespace railbed::node
