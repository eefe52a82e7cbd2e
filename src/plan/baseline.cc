// SPDX-License-Identifier: Apache-2.0
#include "plan/baseline.h"

#include <algorithm>

#include "base/format.h"
#include "base/pci_driver.h"
#include "plan/target.h"

namespace railbed::plan {
namespace {

PfTarget target_of(const PfBaseline& baseline, const facts::Nic& nic, const Why& why) {
  PfTarget target;
  target.nic = &nic;
  target.name = baseline.pf_name;
  target.num_vfs = baseline.num_vfs;
  if (baseline.mtu > 0) target.mtu = baseline.mtu;
  target.up = baseline.up;
  target.eswitch_mode = baseline.eswitch_mode;
  target.autoprobe = baseline.autoprobe;
  target.count_why = target.mtu_why = target.eswitch_why = target.why = why;
  target.vfs.resize(static_cast<size_t>(std::max(baseline.num_vfs, 0)));
  const bool remade = baseline.num_vfs != nic.num_vfs;
  for (VfTarget& vf : target.vfs) {
    // Recreated VFs get a driver where the kernel would have bound one by itself.
    if (remade && baseline.autoprobe && baseline.vfs.empty()) vf.device_type = DeviceType::kNetdevice;
    vf.why = &why;
  }
  for (const VfBaseline& was : baseline.vfs) {
    if (was.index.value < 0 || was.index.value >= baseline.num_vfs) continue;
    VfTarget& vf = target.vfs[static_cast<size_t>(was.index.value)];
    if (!was.driver.empty())
      vf.device_type = is_user_space_driver(was.driver) ? DeviceType::kVfioPci : DeviceType::kNetdevice;
    vf.mtu = was.mtu;
    if (was.admin_mac && !was.admin_mac->is_zero()) vf.mac = was.admin_mac;
  }
  return target;
}

}  // namespace

NodePlan plan_to_baseline(const std::vector<PfBaseline>& baselines, const facts::NodeFacts& facts, const InUse& in_use,
                          const Options& options) {
  NodePlan plan;
  plan.node = facts.node;
  std::vector<const PfBaseline*> sorted;
  for (const PfBaseline& baseline : baselines) sorted.push_back(&baseline);
  std::ranges::sort(sorted, {}, [](const PfBaseline* baseline) { return baseline->pf; });
  for (const PfBaseline* baseline : sorted) {
    auto nic = std::ranges::find(facts.nics, baseline->pf, [](const facts::Nic& n) { return n.pci.address; });
    if (nic == facts.nics.end()) continue;  // the card was taken out: nothing to restore
    const Why why{.reason = fmt::format("{} was like this before railbed", baseline->pf_name), .policy = ""};
    PfSteps steps = steps_to(target_of(*baseline, *nic, why), in_use, options);
    std::ranges::move(steps.held_back, std::back_inserter(plan.held_back));
    if (!steps.steps.empty()) plan.pfs.push_back({baseline->pf, baseline->pf_name, std::move(steps.steps)});
  }
  return plan;
}

}  // namespace railbed::plan
