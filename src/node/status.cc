// SPDX-License-Identifier: Apache-2.0
#include "node/status.h"

#include <algorithm>
#include <map>

#include "attach/attach.h"
#include "attach/record.h"
#include "attach/result.h"
#include "facts/rails.h"
#include "node/plan_note.h"
#include "node/resource_prefix.h"
#include "state/sandbox.h"

namespace railbed::node {

namespace {

// The contents of the state, read once.
struct Snapshot {
  std::vector<PfBaseline> baselines;
  std::vector<state::StepRecord> steps;
  std::vector<state::PodRecord> pods;
  std::vector<state::Attachment> attachments;
  std::vector<state::AddressLease> leases;
  std::optional<PlanNote> note;
};

Result<Snapshot> read_snapshot(state::Store& store) {
  Snapshot snapshot;
  snapshot.baselines = TRY(store.baselines());
  snapshot.steps = TRY(store.steps());
  snapshot.pods = TRY(store.pods());
  snapshot.attachments = TRY(store.attachments());
  snapshot.leases = TRY(store.all_leases());
  if (auto text = TRY(store.note(kPlanNote))) snapshot.note = parse_plan_note(*text);
  return snapshot;
}

const facts::Nic* pf_of_vf(const facts::NodeFacts& facts, const std::string& vf) {
  for (const facts::Nic& nic : facts.nics)
    for (const facts::Vf& one : nic.vfs)
      if (one.pci.address.to_string() == vf) return &nic;
  return nullptr;
}

std::string name_of(const facts::Nic& nic) {
  return nic.netdevs.empty() ? nic.pci.address.to_string() : nic.netdevs.front().name;
}

// Adds the result that attach recorded once the interface existed.
void add_result(const std::string& text, InterfaceStatus& interface) {
  if (text.empty()) return;
  auto result = attach::result_from_json(text);
  if (!result) return;
  interface.mac = result->mac;
  interface.mtu = result->mtu;
  interface.rdma = result->rdma;
  interface.soft = result->soft;
  for (const IpPrefix& address : result->addresses) interface.addresses.push_back(address.to_string());
  if (interface.vf.empty() && result->device) interface.vf = result->device->to_string();
  if (interface.rail.empty()) interface.rail = result->pf;
}

InterfaceStatus interface_of(const state::Attachment& attachment, const facts::NodeFacts& facts) {
  InterfaceStatus interface{
      .name = attachment.interface, .network = attachment.network, .type = attachment.type, .vf = attachment.device};
  switch (attachment.status) {
    case state::AttachmentStatus::kBegun:
      interface.state = "being attached";
      break;
    case state::AttachmentStatus::kAttached:
      interface.state = "attached";
      break;
    case state::AttachmentStatus::kDetaching:
      interface.state = attach::is_orphan(attachment) ? "orphaned" : "being detached";
      break;
  }
  if (const facts::Nic* pf = pf_of_vf(facts, attachment.device)) {
    interface.pf = pf->pci.address.to_string();
    interface.rail = name_of(*pf);
  }
  add_result(attachment.result, interface);
  return interface;
}

std::vector<PodStatus> pods_of(const Snapshot& snapshot, const facts::NodeFacts& facts) {
  std::map<std::string, PodStatus> pods;
  auto pod_named = [&](const std::string& key) -> PodStatus& {
    PodStatus& pod = pods[key];
    state::Sandbox sandbox = state::Sandbox::of_key(key);
    size_t slash = sandbox.pod.find('/');
    pod.ns = slash == std::string::npos ? "" : sandbox.pod.substr(0, slash);
    pod.name = slash == std::string::npos ? sandbox.pod : sandbox.pod.substr(slash + 1);
    pod.container = sandbox.container;
    return pod;
  };
  for (const state::PodRecord& record : snapshot.pods) pod_named(record.pod).netns = record.netns;
  for (const state::Attachment& attachment : snapshot.attachments) {
    if (attachment.type.starts_with(attach::kProgramPrefix)) continue;  // `railbed attachments` shows them
    PodStatus& pod = pod_named(attachment.pod);
    if (pod.netns.empty()) pod.netns = attachment.netns;
    pod.interfaces.push_back(interface_of(attachment, facts));
  }
  if (snapshot.note)
    for (const auto& [key, error] : snapshot.note->pod_errors) pod_named(key).error = error;
  std::vector<PodStatus> list;
  for (auto& [key, pod] : pods) list.push_back(std::move(pod));
  return list;
}

std::vector<PolicyStatus> policies_of(const Snapshot& snapshot) {
  std::vector<PolicyStatus> list;
  if (!snapshot.note) return list;
  for (const graph::PolicyOutcome& outcome : snapshot.note->policies) {
    PolicyStatus policy{.policy = outcome.policy,
                        .state = std::string(graph::outcome_name(outcome.state)),
                        .pfs = outcome.pfs,
                        .shadowed_by = outcome.shadowed_by,
                        .detail = outcome.detail};
    for (const state::StepRecord& step : snapshot.steps) {
      if (step.status != state::StepRecord::Status::kFailed || step.policy != outcome.policy) continue;
      policy.state = "failed";
      policy.failed_step = step.id;
      policy.error = step.error;
      break;
    }
    list.push_back(std::move(policy));
  }
  return list;
}

// The owner of a VF: a pod in the state, or a namespace of others.
std::string owner_of(const facts::Vf& vf, const Snapshot& snapshot) {
  std::string address = vf.pci.address.to_string();
  for (const state::Attachment& attachment : snapshot.attachments)
    if (attachment.device == address) {
      std::string pod = state::Sandbox::of_key(attachment.pod).pod;
      return pod.empty() ? attachment.pod : pod;
    }
  bool hidden = !vf.netdev && !vf.pci.driver.empty() && !vf.pci.driver.starts_with("vfio");
  if (hidden) return "another namespace";
  return vf.netdev && (!vf.netdev->addresses.empty() || !vf.netdev->master.empty()) ? "host" : "";
}

std::vector<PfStatus> pfs_of(const Snapshot& snapshot, const facts::NodeFacts& facts) {
  std::vector<PfStatus> list;
  for (const facts::Nic& nic : facts.nics) {
    if (!nic.total_vfs) continue;
    PfStatus pf{
        .pci = nic.pci.address.to_string(), .name = name_of(nic), .num_vfs = nic.num_vfs, .total_vfs = *nic.total_vfs};
    pf.ours = std::ranges::find(snapshot.baselines, nic.pci.address, &PfBaseline::pf) != snapshot.baselines.end();
    for (const facts::Vf& vf : nic.vfs)
      pf.vfs.push_back({.index = vf.index.value,
                        .pci = vf.pci.address.to_string(),
                        .driver = vf.pci.driver,
                        .name = vf.netdev ? vf.netdev->name : "",
                        .owner = owner_of(vf, snapshot)});
    pf.rate_gbps = facts::port_speed(nic);
    list.push_back(std::move(pf));
  }
  return list;
}

}  // namespace

std::optional<double> PfStatus::share_gbps() const {
  const auto used = std::ranges::count_if(vfs, [](const VfStatus& vf) { return !vf.owner.empty(); });
  if (!rate_gbps || used == 0) return std::nullopt;
  return *rate_gbps / static_cast<double>(used);
}

Result<Status> read_status(const facts::NodeFacts& facts, state::Store* store) {
  Snapshot snapshot;
  if (store != nullptr) snapshot = TRY(read_snapshot(*store));
  const KnownPrefixes prefixes = TRY(known_prefixes(store));
  Status status{.node = facts.node,
                .policies = policies_of(snapshot),
                .pfs = pfs_of(snapshot, facts),
                .pods = pods_of(snapshot, facts),
                .leases = std::move(snapshot.leases),
                .prefix_conflict = prefixes.conflict()};
  // The name that the manifests use for this machine, if a run was given one.
  if (snapshot.note && !snapshot.note->node.empty()) status.node = snapshot.note->node;
  if (snapshot.note) status.held_back = snapshot.note->held_back;
  for (const state::StepRecord& step : snapshot.steps)
    if (step.status == state::StepRecord::Status::kBegun)
      status.interrupted.push_back(fmt::format("{} ({})", step.id, step.description));
  return status;
}

}  // namespace railbed::node
