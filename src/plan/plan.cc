// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/format.h"
#include "facts/rails.h"
#include "plan/target.h"
#include "plan/vf_identity.h"

namespace railbed::plan {
namespace {

using graph::Graph;
using graph::Origin;
using graph::PfWanted;
using graph::VfGroup;

// "policy rail0 (policy.yaml:14:12)", with the place of one field instead of the policy's.
std::string at(const Origin& from, const doc::Span& span) {
  return span.known() ? fmt::format("policy {} ({})", from.name, span.to_string()) : from.place;
}

// VfTarget::why points into vf_why, so both are kept together.
struct PolicyTarget {
  PfTarget target;
  std::vector<Why> vf_why;
};

void set_vf(VfTarget& vf, const VfGroup& group, const Why& why) {
  vf.device_type = group.device_type;
  vf.mtu = group.mtu;
  vf.why = &why;
}

PolicyTarget target_of(const PfWanted& wanted, std::string_view node) {
  const facts::Nic& nic = *wanted.nic;
  PolicyTarget made;
  PfTarget& target = made.target;
  target.nic = &nic;
  target.name = wanted.name;
  target.pf_is_ours = !wanted.externally_managed;
  target.num_vfs = wanted.externally_managed ? nic.num_vfs : wanted.num_vfs;
  const Origin& count_from = *wanted.num_vfs_from;
  target.count_why = {
      fmt::format("{} requests {} VFs, found {}", at(count_from, count_from.num_vfs), wanted.num_vfs, nic.num_vfs),
      count_from.policy};
  const Origin& lead = *wanted.lead;
  target.why = {fmt::format("{} has VFs of {}", lead.place, wanted.name), lead.policy};
  // An absent eSwitchMode means legacy, as for the operator.
  target.eswitch_why = {
      fmt::format("{} requests eSwitchMode {}", at(lead, lead.eswitch_mode), eswitch_mode_name(wanted.eswitch_mode)),
      lead.policy};
  target.up = true;
  target.eswitch_mode = wanted.eswitch_mode;
  if (wanted.mtu_from != nullptr && !nic.netdevs.empty() && wanted.mtu > nic.netdevs.front().mtu) {
    target.mtu = wanted.mtu;
    const Origin& mtu_from = *wanted.mtu_from;
    target.mtu_why = {fmt::format("{} requests MTU {}", at(mtu_from, mtu_from.mtu), wanted.mtu), mtu_from.policy};
  }

  made.vf_why.reserve(wanted.groups.size() + 1);
  target.vfs.resize(static_cast<size_t>(target.num_vfs));
  // VFs that no policy names become ordinary interfaces, as with the operator.
  const Why& rest = made.vf_why.emplace_back(Why{
      fmt::format("{} makes {} VFs; no policy names this one", count_from.place, wanted.num_vfs), count_from.policy});
  for (VfTarget& vf : target.vfs) vf = {.device_type = DeviceType::kNetdevice, .why = &rest};
  for (const VfGroup& group : wanted.groups) {
    const Why& why = made.vf_why.emplace_back(
        Why{fmt::format("{} has VFs {}", group.from->place, graph::to_string(group.vfs)), group.from->policy});
    for (const graph::VfRange& range : group.vfs)
      for (int vf = range.first; vf <= range.last && vf < target.num_vfs; ++vf)
        set_vf(target.vfs[static_cast<size_t>(vf)], group, why);
  }
  const PfIdentity identity(node, nic);
  for (int vf = 0; vf < target.num_vfs; ++vf) {
    VfTarget& it = target.vfs[static_cast<size_t>(vf)];
    if (nic.link_type == facts::LinkType::kInfiniband)
      it.guid = identity.vf_guid(VfIndex{vf});
    else
      it.mac = identity.vf_mac(VfIndex{vf});
  }
  return made;
}

void add_to_pools(NodePlan& plan, const PfWanted& wanted, int num_vfs, const InUse& in_use) {
  const facts::Nic& nic = *wanted.nic;
  if (const std::optional<double> gbps = facts::port_speed(nic)) plan.port_gbps.emplace(nic.pci.address, *gbps);
  for (const VfGroup& group : wanted.groups) {
    std::vector<PoolVf>& pool = plan.resources[group.resource];
    for (const graph::VfRange& range : group.vfs)
      for (int vf = range.first; vf <= range.last && vf < num_vfs; ++vf) {
        PoolVf& entry = pool.emplace_back();
        entry.pf = nic.pci.address;
        entry.pf_name = wanted.name;
        entry.index = VfIndex{vf};
        entry.address = vf_address(nic, entry.index).value_or(PciAddress{});
        entry.policy = group.from->policy;
        entry.device_type = group.device_type;
        entry.rdma = group.rdma;
        entry.infiniband = nic.link_type == facts::LinkType::kInfiniband;
        entry.mtu = group.mtu;
        entry.numa_node = nic.pci.numa_node;
        if (const auto at_index = static_cast<size_t>(vf);
            at_index < nic.vfs.size() && nic.vfs[at_index].index == entry.index)
          entry.held_by = holder_of(nic.vfs[at_index], nic, in_use);
      }
  }
}

// Adds a reboot step where a refused policy only lacks a reboot; one step per cause and PF.
void add_reboots(std::map<PciAddress, PfPlan>& pfs, const Graph& graph) {
  for (const graph::Refusal& refusal : graph.refusals) {
    if (refusal.needs_reboot.empty()) continue;
    const PciAddress address = refusal.nic->pci.address;
    PfPlan& pf = pfs[address];
    pf.pf = address;
    pf.pf_name = refusal.pf_name;
    Step step{.id = fmt::format("{}/reboot/{}", address, refusal.needs_reboot),
              .action = NeedsReboot{refusal.needs_reboot},
              .reason = fmt::format("{}: {}", refusal.from->place, refusal.reason),
              .policy = refusal.from->policy,
              .disturbs = Disturbs::kReboot};
    if (std::ranges::find(pf.steps, step.id, &Step::id) == pf.steps.end())
      pf.steps.insert(pf.steps.begin(), std::move(step));
  }
}

void add_pods(NodePlan& plan, const Graph& graph) {
  for (const graph::PodOnNode& pod : graph.pods) {
    if (pod.networks.empty()) continue;
    PodPlan& entry = plan.pods.emplace_back();
    entry.pod = pod.pod->key();
    for (const graph::PodNetwork& network : pod.networks)
      entry.networks.push_back({.interface = network.interface,
                                .network = network.key,
                                .type = network.network != nullptr ? network.network->type : "",
                                .resource = network.network != nullptr ? network.network->resource : ""});
  }
}

}  // namespace

NodePlan make_plan(const Graph& graph, const InUse& in_use, const Options& options) {
  NodePlan plan;
  plan.node = graph.facts->node;
  plan.soft_rdma = graph.soft_rdma;
  plan.policies = graph.outcomes;
  std::map<PciAddress, PfPlan> pfs;
  for (const PfWanted& wanted : graph.pfs) {
    const PolicyTarget made = target_of(wanted, graph.facts->node);
    PfSteps steps = steps_to(made.target, in_use, options);
    std::ranges::move(steps.held_back, std::back_inserter(plan.held_back));
    add_to_pools(plan, wanted, steps.num_vfs, in_use);
    if (!steps.steps.empty())
      pfs[wanted.nic->pci.address] = {wanted.nic->pci.address, wanted.name, std::move(steps.steps)};
  }
  add_reboots(pfs, graph);
  for (auto& [address, pf] : pfs) plan.pfs.push_back(std::move(pf));
  add_pods(plan, graph);
  return plan;
}

std::vector<NodePlan> make_plans(const graph::Resolution& resolution, const InUse& in_use, const Options& options,
                                 doc::Diagnostics& diagnostics) {
  std::vector<NodePlan> plans;
  plans.reserve(resolution.graphs.size());
  for (const Graph& graph : resolution.graphs) {
    plans.push_back(make_plan(graph, in_use, options));
    check_pods(graph, plans.back(), diagnostics);
  }
  return plans;
}

}  // namespace railbed::plan
