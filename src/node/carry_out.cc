// SPDX-License-Identifier: Apache-2.0
#include "node/carry_out.h"

#include <set>

namespace railbed::node {
namespace {

// Failed steps belong to the last plan: records of PFs that it does not touch any more are obsolete.
Result<void> forget_old_failures(state::Store& store, const plan::NodePlan& plan) {
  std::set<PciAddress> old;
  for (const state::StepRecord& step : TRY(store.steps())) old.insert(step.pf);
  for (const plan::PfPlan& pf : plan.pfs) old.erase(pf.pf);
  for (PciAddress pf : old) TRY(store.forget_steps(pf));
  return {};
}

Result<std::vector<PciAddress>> forget_restored(state::Store& store, const std::vector<PfBaseline>& baselines,
                                                const plan::NodePlan& plan, const apply::Report& report) {
  std::set<PciAddress> kept;
  for (const apply::StepFailure& failure : report.failures) kept.insert(failure.pf);
  for (const plan::HeldBack& held : plan.held_back) kept.insert(held.pf);
  if (report.canceled)
    for (const plan::PfPlan& pf : plan.pfs) kept.insert(pf.pf);
  std::vector<PciAddress> restored;
  for (const PfBaseline& baseline : baselines) {
    if (kept.contains(baseline.pf)) continue;
    TRY(store.forget_steps(baseline.pf));
    TRY(store.forget_baseline(baseline.pf));
    restored.push_back(baseline.pf);
  }
  return restored;
}

}  // namespace

Result<Carried> carry_out(os::Kernel& kernel, state::Store& store, const plan::NodePlan& plan,
                          const std::vector<PfBaseline>& restoring, const apply::Options& options,
                          apply::Progress& progress) {
  TRY(forget_old_failures(store, plan));
  Carried out;
  out.applied = apply::carry_out(kernel, store, plan, options, progress);
  out.restored = TRY(forget_restored(store, restoring, plan, out.applied));
  return out;
}

}  // namespace railbed::node
