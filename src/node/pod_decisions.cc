// SPDX-License-Identifier: Apache-2.0
#include "node/pod_decisions.h"

#include <algorithm>

#include "api/ipam.h"
#include "attach/record.h"
#include "attach/result.h"
#include "base/command.h"
#include "node/choose_vf.h"
#include "node/netns_name.h"
#include "node/planned_addresses.h"
#include "node/pod_vfs.h"

namespace railbed::node {

namespace {

using attach::InterfaceRequest;
using attach::InterfaceSpec;
using attach::Presence;
using plan::PodAction;

std::string device_text(const InterfaceRequest& request, const InterfaceSpec& spec) {
  if (request.device) return fmt::format("VF {} of {}", request.device->index, request.device->pf_name);
  if (spec.device) return spec.device->to_string();
  return spec.host_link;
}

// One interface that a pod wants. `spec` has the reason where it cannot be known here what it will be.
struct WantedInterface {
  const graph::PodNetwork* network = nullptr;
  InterfaceRequest request;
  Result<InterfaceSpec> spec;
  attach::CompareAddresses compare = attach::CompareAddresses::kYes;
};

// A record that does not stay as it is.
struct Going {
  const state::Attachment* record = nullptr;
  std::string why;
};

class PodDecider {
 public:
  PodDecider(const Resolved& now, const PodQuestion& question)
      : now_(now), there_(question.there), question_(question) {
    out_.leaving = question.leaving;
    out_.soft_rdma = now.graph().soft_rdma;
  }

  PodDecisions decide() {
    find_wanted();
    recover();
    detach_unwanted();
    plan_addresses();
    choose_vfs();
    for (const graph::PodOnNode& pod : now_.graph().pods)
      if (!pod.networks.empty()) decide_pod(pod);
    std::ranges::move(changes_, std::back_inserter(out_.steps));
    std::ranges::move(attaches_, std::back_inserter(out_.steps));
    find_held_mtus();
    return std::move(out_);
  }

 private:
  // --- before anything else: what is left, and what is not desired

  void find_wanted() {
    for (const graph::PodOnNode& pod : now_.graph().pods)
      if (!pod.networks.empty()) wanted_.insert(pod.pod->key());
    for (const api::Pod* pod : now_.catalog().pods) in_manifests_.emplace(pod->key(), pod);
    for (const state::PodRecord& pod : there_.pods) known_.insert(pod.pod);
    for (const InterfaceThere& one : there_.interfaces) known_.insert(one.record.pod);
  }

  void recover() {
    std::map<std::string, plan::PodStep> steps;
    for (const InterfaceThere& one : there_.interfaces) {
      if (one.presence != Presence::kLeft) continue;
      plan::PodStep& step = steps[one.record.pod];
      step.interfaces.push_back({.interface = one.record.interface,
                                 .network = one.record.network,
                                 .why = one.record.status == state::AttachmentStatus::kAttached
                                            ? "its network namespace no longer exists"
                                            : "an earlier run was interrupted"});
      out_.leaving.insert(node::id_of(one.record));
    }
    for (auto& [pod, step] : steps) {
      step.id = pod + "/recover";
      step.pod = pod;
      step.action = PodAction::kRecover;
      step.reason = "from an earlier run";
      out_.steps.push_back(std::move(step));
    }
  }

  std::string why_unwanted(const std::string& pod) const {
    auto found = in_manifests_.find(pod);
    if (found == in_manifests_.end()) return "it is in none of the manifests";
    if (found->second->networks.empty()) return "its manifest asks for no networks";
    return found->second->node_name.present ? "it is for node " + *found->second->node_name
                                            : "its nodeSelector does not match this node";
  }

  void detach_unwanted() {
    for (const std::string& pod : known_)
      if (!wanted_.contains(pod) && !is_of_runtime(pod)) detach_all(pod, why_unwanted(pod));
    for (const std::string& pod : known_)
      if (question_.disturbed.contains(pod) && (wanted_.contains(pod) || is_of_runtime(pod)))
        detach_all(pod, "steps on PFs take its VFs away (--disrupt)");
    for (const state::AddressLease& lease : there_.leases)
      if (!in_manifests_.contains(lease.pod) && !is_of_runtime(lease.pod)) out_.old_leases.push_back(lease);
  }

  void detach_all(const std::string& pod, std::string reason) {
    plan::PodStep step{.id = pod + "/detach",
                       .pod = pod,
                       .action = PodAction::kDetach,
                       .reason = std::move(reason),
                       .whole_pod = true,
                       .disturbs = true};
    for (const InterfaceThere& one : there_.interfaces) {
      if (one.record.pod != pod || one.presence == Presence::kLeft) continue;
      step.interfaces.push_back({.interface = one.record.interface, .network = one.record.network});
      out_.leaving.insert(node::id_of(one.record));
    }
    out_.steps.push_back(std::move(step));
    gone_.insert(pod);
  }

  // --- what the interfaces get

  void plan_addresses() {
    const auto types = question_.by == PodsBy::kAgent ? PlannedTypes::kSameOnAllMachines : PlannedTypes::kAll;
    const std::vector<ipam::AddressClaim> claims = address_claims(now_.catalog(), types);
    std::vector<state::AddressLease> leases;
    // What a re-attached pod has it keeps; those that leave this node give theirs back.
    std::ranges::copy_if(there_.leases, std::back_inserter(leases), [&](const state::AddressLease& lease) {
      if (question_.detached || is_of_runtime(lease.pod)) return true;
      return in_manifests_.contains(lease.pod) &&
             (wanted_.contains(lease.pod) || !out_.leaving.contains({lease.pod, lease.interface}));
    });
    addresses_ = planned_addresses(claims, leases);
    for (const ipam::AddressClaim& claim : claims) routes_.emplace(claim.owner, claim.config.routes);
    for (state::AddressLease& lease : missing_leases(addresses_, leases))
      if (!wanted_.contains(lease.pod)) out_.new_leases.push_back(std::move(lease));
  }

  const state::Attachment* record_of(const std::string& pod, const std::string& interface) const {
    for (const InterfaceThere& one : there_.interfaces)
      if (one.record.pod == pod && one.record.interface == interface) return &one.record;
    return nullptr;
  }

  bool goes(const state::Attachment& record) const { return out_.leaving.contains(node::id_of(record)); }

  // The VF of the pool that the interface has already, unless it has to go and its steps have failed.
  const plan::PoolVf* present_vf(const std::string& pod, const graph::PodNetwork& network,
                                 const std::vector<plan::PoolVf>& pool) const {
    const state::Attachment* record = record_of(pod, network.interface);
    if (record == nullptr || record->device.empty()) return nullptr;
    const api::Field<std::string>& asked = network.selection->device_id;
    if (asked.present && *asked != record->device) return nullptr;
    auto vf =
        std::ranges::find_if(pool, [&](const plan::PoolVf& one) { return one.address.to_string() == record->device; });
    if (vf == pool.end() || (goes(*record) && now_.unfinished.contains(id_of(*vf)))) return nullptr;
    return &*vf;
  }

  // All at once, before the first pod: what goes wrong with one does not change what the others get.
  void choose_vfs() {
    VfPools pools(now_, in_use_by(there_, question_.detached ? std::set<RecordId>{} : out_.leaving));
    std::vector<std::pair<const graph::PodOnNode*, const graph::PodNetwork*>> without;
    for (const graph::PodOnNode& pod : now_.graph().pods)
      for (const graph::PodNetwork& network : pod.networks) {
        if (network.network == nullptr || network.network->resource.empty()) continue;
        const std::vector<plan::PoolVf>* pool = pools.of(network.network->resource);
        const plan::PoolVf* vf = pool == nullptr ? nullptr : present_vf(pod.pod->key(), network, *pool);
        if (vf == nullptr) {
          without.emplace_back(&pod, &network);
          continue;
        }
        pools.take(*vf, pod.pod->key());
        vfs_.emplace(ipam::Owner{pod.pod->key(), network.interface}, *vf);
      }
    for (const auto& [pod, network] : without) {
      const std::string key = pod->pod->key();
      const api::Field<std::string>& asked = network->selection->device_id;
      vfs_.emplace(ipam::Owner{key, network->interface},
                   pools.choose(network->network->resource, key, asked.present ? *asked : ""));
    }
  }

  // --- one pod

  Result<InterfaceRequest> request_of(const std::string& pod, const graph::PodNetwork& network) const {
    if (network.network == nullptr) return fail(Code::kNotFound, "network {} not found", network.key);
    InterfaceRequest one{.name = TRY(IfName::parse(network.interface)),
                         .network = network.key,
                         .config = network.network->definition.config,
                         .selection = *network.selection,
                         .resource = network.network->resource};
    if (!one.resource.empty()) {
      const Result<plan::PoolVf>& vf = vfs_.at({pod, network.interface});
      if (!vf) return fail(vf.error());
      one.device = *vf;
    }
    auto addresses = addresses_.find({pod, network.interface});
    if (addresses != addresses_.end()) {
      if (!addresses->second) return fail(addresses->second.error());
      one.addresses = *addresses->second;
      one.routes = routes_.at(addresses->first);
    } else if (question_.by == PodsBy::kThisProcess) {
      // Left out of the plan: its ipam cannot be read, and this says why.
      TRY(api::read_ipam(one.config, network.key).context("interface {}", network.interface));
    }
    return one;
  }

  // The same for every agent: what it chooses itself, and what it executes, no one else knows.
  Result<std::vector<WantedInterface>> interfaces_of(const graph::PodOnNode& pod) const {
    const bool by_agent = question_.by == PodsBy::kAgent;
    std::vector<WantedInterface> wanted;
    for (const graph::PodNetwork& network : pod.networks) {
      auto request = request_of(pod.pod->key(), network);
      if (!request && !(by_agent && network.network != nullptr)) return fail(std::move(request.error()));
      WantedInterface one{.network = &network, .request = {}, .spec = fail(Code::kNotFound, "chosen by the agent")};
      if (request) {
        one.request = std::move(*request);
        const bool planned = addresses_.contains({pod.pod->key(), network.interface});
        one.request.addresses_later = by_agent && !planned;
        one.spec = attach::read_spec(one.request, now_.graph().soft_rdma).context("interface {}", network.interface);
        if (!one.spec && !by_agent) return fail(std::move(one.spec.error()));
        if (by_agent && !planned) one.compare = attach::CompareAddresses::kNo;
      }
      wanted.push_back(std::move(one));
    }
    return wanted;
  }

  void decide_pod(const graph::PodOnNode& pod) {
    const std::string key = pod.pod->key();
    auto wanted = interfaces_of(pod);
    auto made = there_.namespaces.contains(netns_name(key)) &&
                std::ranges::find(there_.pods, key, &state::PodRecord::pod) == there_.pods.end();
    if (wanted && made) wanted = fail(foreign_namespace(netns_name(key)));
    if (!wanted) {
      attaches_.push_back({.id = key + "/attach",
                           .pod = key,
                           .action = PodAction::kAttach,
                           .reason = "required by the manifests",
                           .interfaces = {},
                           .problem = wanted.error().message});
      out_.problems.emplace(key, std::move(wanted.error()));
      return;
    }
    const std::vector<Going> going = find_going(key, *wanted);
    if (question_.by == PodsBy::kThisProcess) take_away(key, going);
    attach(key, *wanted, going);
  }

  static const WantedInterface* wanted_as(const std::vector<WantedInterface>& wanted, const state::Attachment& record) {
    for (const WantedInterface& one : wanted) {
      const std::string& interface = one.network->interface;
      if (record.interface == interface) return &one;
      // Records of an agent's chains: of a change, or of an executed program.
      if (record.interface.starts_with(interface + "/") ||
          record.interface.starts_with(fmt::format("{}{}#", attach::kProgramPrefix, interface)))
        return &one;
    }
    return nullptr;
  }

  std::string why_going(const InterfaceThere& there, const WantedInterface* wanted) const {
    if (wanted == nullptr) return "its pod no longer requests it";
    if (there.presence == Presence::kMissing) return "it is no longer in the pod";
    if (there.record.network != wanted->network->key)
      return fmt::format("network {} instead of {}", wanted->network->key, there.record.network);
    if (!wanted->spec || there.record.interface != wanted->spec->record_name()) return "";
    return fmt::format("{}", fmt::join(attach::differences(there.record, *wanted->spec, wanted->compare), ", "));
  }

  std::vector<Going> find_going(const std::string& pod, const std::vector<WantedInterface>& wanted) const {
    std::vector<Going> going;
    if (gone_.contains(pod)) return going;
    for (const InterfaceThere& one : there_.interfaces) {
      if (one.record.pod != pod || one.presence == Presence::kLeft) continue;
      std::string why = why_going(one, wanted_as(wanted, one.record));
      if (why.empty() && question_.leaving.contains(node::id_of(one.record))) why = "its device is needed elsewhere";
      if (!why.empty()) going.push_back({&one.record, std::move(why)});
    }
    return going;
  }

  void take_away(const std::string& pod, const std::vector<Going>& going) {
    if (going.empty()) return;
    plan::PodStep step{.id = pod + "/detach",
                       .pod = pod,
                       .action = PodAction::kDetach,
                       .reason = "its interfaces differ from the manifests",
                       .disturbs = true};
    for (const Going& one : going) {
      step.interfaces.push_back({.interface = one.record->interface, .network = one.record->network, .why = one.why});
      out_.leaving.insert(node::id_of(*one.record));
    }
    changes_.push_back(std::move(step));
  }

  bool is_kept(const std::string& pod, const std::string& interface, const std::vector<Going>& going) const {
    const auto is_going = [&](const state::Attachment& record) {
      return std::ranges::any_of(going, [&](const Going& one) { return one.record == &record; });
    };
    if (gone_.contains(pod)) return false;
    return std::ranges::any_of(there_.interfaces, [&](const InterfaceThere& one) {
      const bool named = one.record.interface == interface ||
                         one.record.interface.starts_with(fmt::format("{}{}#", attach::kProgramPrefix, interface));
      return one.record.pod == pod && named && one.presence == Presence::kThere && !is_going(one.record);
    });
  }

  void attach(const std::string& pod, const std::vector<WantedInterface>& wanted, const std::vector<Going>& going) {
    const bool by_agent = question_.by == PodsBy::kAgent;
    plan::PodStep step{
        .id = pod + "/attach", .pod = pod, .action = PodAction::kAttach, .reason = "required by the manifests"};
    for (const WantedInterface& one : wanted) {
      if (is_kept(pod, one.network->interface, going)) continue;
      plan::PodInterface& shown = step.interfaces.emplace_back();
      shown.interface = one.network->interface;
      shown.network = one.network->key;
      // Which VF an agent gives it decides itself.
      if (one.spec && !(by_agent && one.request.device)) shown.device = device_text(one.request, *one.spec);
      for (const Going& old : going)
        if (by_agent && old.record->interface == one.network->interface) shown.why = old.why;
    }
    // An agent detaches in the same request.
    if (by_agent && !going.empty()) {
      step.disturbs = true;
      for (const Going& old : going)
        if (wanted_as(wanted, *old.record) == nullptr)
          step.interfaces.push_back(
              {.interface = old.record->interface, .network = old.record->network, .why = old.why});
    }
    if (step.interfaces.empty()) return;
    if (!by_agent)
      for (const WantedInterface& one : wanted) out_.requests[pod].push_back(one.request);
    attaches_.push_back(std::move(step));
  }

  // --- what waits

  // A network may set its own MTU on purpose; then the policy's does not apply.
  bool sets_mtu(const std::string& network) const {
    auto found = now_.catalog().networks.find(network);
    if (found == now_.catalog().networks.end()) return true;
    return std::ranges::any_of(found->second.definition.config.plugins,
                               [](const api::Plugin& plugin) { return plugin.config.find("mtu") != nullptr; });
  }

  void find_held_mtus() {
    for (const InterfaceThere& one : there_.interfaces) {
      if (goes(one.record)) continue;
      auto pool = now_.plan.resources.find(one.record.resource);
      auto result = attach::result_from_json(one.record.result);
      if (pool == now_.plan.resources.end() || !result || sets_mtu(one.record.network)) continue;
      for (const plan::PoolVf& vf : pool->second) {
        if (vf.address.to_string() != one.record.device || vf.mtu == 0 || vf.mtu == result->mtu) continue;
        out_.held_back.push_back({.pf = vf.pf,
                                  .pf_name = vf.pf_name,
                                  .change = fmt::format("VF {}: MTU {} instead of {}", vf.index, vf.mtu, result->mtu),
                                  .reason = fmt::format("required by policy {}", vf.policy),
                                  .policy = vf.policy,
                                  .pods = {one.record.pod}});
      }
    }
  }

  const Resolved& now_;
  const PodsThere& there_;
  const PodQuestion& question_;
  std::set<std::string> wanted_;                         // pods with networks on this node
  std::map<std::string, const api::Pod*> in_manifests_;  // of all nodes
  std::set<std::string> known_;                          // pods in the state
  std::set<std::string> gone_;                           // detached as a whole
  PlannedAddresses addresses_;
  std::map<ipam::Owner, std::vector<Route>> routes_;
  ChosenVfs vfs_;
  std::vector<plan::PodStep> changes_;
  std::vector<plan::PodStep> attaches_;
  PodDecisions out_;
};

}  // namespace

Error foreign_namespace(const std::string& name) {
  return {.code = Code::kConflict,
          .message = fmt::format("namespace {} exists and was not created by railbed", name),
          .hint = fmt::format("if unused: {}", Command{"ip", "netns", "del"}.value(name))};
}

PodDecisions decide_pods(const Resolved& now, const PodQuestion& question) {
  return PodDecider(now, question).decide();
}

}  // namespace railbed::node
