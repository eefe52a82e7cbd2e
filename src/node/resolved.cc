// SPDX-License-Identifier: Apache-2.0
#include "node/resolved.h"

#include <algorithm>

#include "facts/collect.h"

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

Result<std::unique_ptr<Resolved>> resolve(os::Kernel& kernel, state::Store* store, const api::Objects& objects,
                                          const Settings& settings, doc::Diagnostics& diagnostics) {
  auto now = std::make_unique<Resolved>();
  now->facts = facts::collect(kernel, {.node = settings.node});
  if (store != nullptr) now->in_use = TRY(in_use_by(*store));
  graph::Options options{.resource_prefix = settings.resource_prefix, .soft_rdma = settings.soft_rdma};
  now->catalog = graph::index(objects, options, diagnostics);
  now->graph = graph::resolve(now->catalog, now->facts, diagnostics);
  graph::check_policies_across({&now->graph, 1}, diagnostics);
  now->plan = plan::make_plan(now->graph, now->in_use, {.disrupt = settings.disrupt});
  plan::check_pods(now->graph, now->plan, diagnostics);
  return now;
}

}  // namespace railbed::node
