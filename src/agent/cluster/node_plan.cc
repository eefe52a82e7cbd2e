// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_plan.h"

#include <algorithm>
#include <iterator>

#include "graph/node_state.h"
#include "plan/baseline.h"
#include "plan/vf_identity.h"

namespace railbed::agent {
namespace {

using plan::PfPlan;
using plan::Step;

const facts::Nic* nic_at(const facts::NodeFacts& facts, PciAddress address) {
  const auto found = std::ranges::find(facts.nics, address, [](const facts::Nic& nic) { return nic.pci.address; });
  return found == facts.nics.end() ? nullptr : &*found;
}

// Whether the state says that this PF shall have no VFs of policies.
bool is_given_up(const api::SriovNetworkNodeState& state, PciAddress pf) {
  if (!state.decided) return false;
  const auto wanted = std::ranges::find(state.pfs, pf, &api::NodeStatePf::address);
  if (wanted != state.pfs.end()) return wanted->num_vfs == 0 && wanted->groups.empty() && !wanted->externally_managed;
  return std::ranges::find(state.nics, pf, &api::FoundNic::address) != state.nics.end();
}

std::vector<PfBaseline> to_give_back(const StateView& view) {
  std::vector<PfBaseline> out;
  for (const PfBaseline& baseline : view.baselines)
    if (view.listed.contains(baseline.pf) && is_given_up(view.state, baseline.pf)) out.push_back(baseline);
  return out;
}

// Whether a step changes all VFs of its PF: they are removed, or the port is reset.
bool is_for_all_vfs(const plan::Action& action) {
  if (const auto* up = std::get_if<plan::SetPfUp>(&action)) return !up->up;
  return std::holds_alternative<plan::SetVfCount>(action) || std::holds_alternative<plan::SetEswitchMode>(action) ||
         std::holds_alternative<plan::SetPfMtu>(action);
}

bool remakes_vfs(const PfPlan& pf) {
  return std::ranges::any_of(pf.steps, [](const Step& step) {
    return std::holds_alternative<plan::SetVfCount>(step.action) ||
           std::holds_alternative<plan::SetEswitchMode>(step.action);
  });
}

const facts::Vf* vf_at(const facts::Nic& nic, VfIndex index) {
  const auto found = std::ranges::find(nic.vfs, index, &facts::Vf::index);
  return found == nic.vfs.end() ? nullptr : &*found;
}

}  // namespace

StatePlan plan_state(const StateView& view) {
  doc::Diagnostics refusals;  // each is an outcome of its policy, too
  const graph::WantedState wanted(view.state, view.facts, view.options, refusals);
  StatePlan out;
  out.plan = plan::make_plan(wanted.graph, view.in_use);
  out.given_back = to_give_back(view);
  plan::NodePlan back = plan::plan_to_baseline(out.given_back, view.facts, view.in_use);
  std::ranges::move(back.pfs, std::back_inserter(out.plan.pfs));
  std::ranges::move(back.held_back, std::back_inserter(out.plan.held_back));
  std::ranges::sort(out.plan.pfs, {}, &PfPlan::pf);
  for (const graph::PfWanted& pf : wanted.graph.pfs)
    for (const graph::VfGroup& group : pf.groups) {
      if (group.exclude_topology) out.without_topology.insert(group.resource);
      if (group.need_vhost_net) out.with_vhost_net.insert(group.resource);
      if (group.mad) out.with_mad.insert(group.resource);
    }
  return out;
}

std::set<PciAddress> disturbed_vfs(const plan::NodePlan& plan, const facts::NodeFacts& facts) {
  std::set<PciAddress> out;
  for (const PfPlan& pf : plan.pfs) {
    const facts::Nic* nic = nic_at(facts, pf.pf);
    if (nic == nullptr) continue;
    for (const Step& step : pf.steps) {
      if (is_for_all_vfs(step.action))
        for (const facts::Vf& vf : nic->vfs) out.insert(vf.pci.address);
      if (const auto index = plan::vf_of(step.action))
        if (const facts::Vf* vf = vf_at(*nic, *index)) out.insert(vf->pci.address);
    }
  }
  return out;
}

std::set<PciAddress> changing_devices(const plan::NodePlan& plan, const facts::NodeFacts& facts) {
  std::set<PciAddress> out = disturbed_vfs(plan, facts);
  for (const PfPlan& pf : plan.pfs) {
    const facts::Nic* nic = nic_at(facts, pf.pf);
    if (nic == nullptr || !remakes_vfs(pf)) continue;
    out.insert(pf.pf);
    for (const Step& step : pf.steps)
      if (const auto* count = std::get_if<plan::SetVfCount>(&step.action))
        for (int vf = 0; vf < count->to; ++vf)
          if (const auto address = plan::vf_address(*nic, VfIndex{vf})) out.insert(*address);
  }
  return out;
}

plan::InUse all_vfs(const facts::NodeFacts& facts, std::string_view holder) {
  plan::InUse out;
  for (const facts::Nic& nic : facts.nics)
    for (const facts::Vf& vf : nic.vfs) out.emplace(vf.pci.address, holder);
  return out;
}

kubelet::NodeDevices devices_now(const StatePlan& now, const facts::NodeFacts& facts) {
  kubelet::NodeDevices out{.resources = {},
                           .without_topology = now.without_topology,
                           .with_vhost_net = now.with_vhost_net,
                           .with_mad = now.with_mad,
                           .unfinished = disturbed_vfs(now.plan, facts),
                           .soft_rdma = now.plan.soft_rdma,
                           .facts = facts};
  for (const auto& [resource, pool] : now.plan.resources) {
    std::vector<plan::PoolVf>& there = out.resources[resource];
    for (plan::PoolVf vf : pool) {
      const facts::Nic* nic = nic_at(facts, vf.pf);
      const facts::Vf* found = nic != nullptr ? vf_at(*nic, vf.index) : nullptr;
      if (found == nullptr) continue;
      vf.address = found->pci.address;
      there.push_back(std::move(vf));
    }
  }
  return out;
}

}  // namespace railbed::agent
