// SPDX-License-Identifier: Apache-2.0
#include "node/resolved.h"

#include <algorithm>

namespace railbed::node {

std::set<std::pair<PciAddress, VfIndex>> unfinished_vfs(const plan::NodePlan& plan, const apply::Report& report) {
  std::set<std::pair<PciAddress, VfIndex>> unfinished;
  for (const apply::StepFailure& failure : report.failures) {
    auto pf = std::ranges::find(plan.pfs, failure.pf, &plan::PfPlan::pf);
    if (pf == plan.pfs.end()) continue;
    auto failed = std::ranges::find(pf->steps, failure.step, &plan::Step::id);
    for (; failed != pf->steps.end(); ++failed)
      if (auto vf = plan::vf_of(failed->action)) unfinished.emplace(pf->pf, *vf);
  }
  return unfinished;
}

Result<plan::InUse> in_use_by(state::Store& store) {
  plan::InUse in_use;
  for (const state::Attachment& attachment : TRY(store.attachments()))
    if (auto device = PciAddress::parse(attachment.device)) in_use[*device] = attachment.pod;
  return in_use;
}

Resolved::Resolved(const api::Objects& objects, facts::NodeFacts given, const plan::InUse& in_use,
                   const graph::Options& options, const plan::Options& planning, graph::PodPlacement placement)
    : facts(std::move(given)),
      resolution(objects, {&facts, 1}, options, placement, diagnostics),
      plan(std::move(plan::make_plans(resolution, in_use, planning, diagnostics).front())) {}

}  // namespace railbed::node
