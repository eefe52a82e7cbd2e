// SPDX-License-Identifier: Apache-2.0
#include "node/pods.h"

#include <algorithm>
#include <set>

#include "api/ipam.h"
#include "attach/attach.h"
#include "node/netns_name.h"
#include "node/planned_addresses.h"
#include "node/pod_vfs.h"
#include "state/sandbox.h"

namespace railbed::node {

namespace {

// For all interfaces of one pod; a VF that returns from a removed namespace takes a while.
constexpr std::chrono::seconds kPodTime{60};

os::Deadline pod_deadline(os::Kernel& kernel) {
  return kernel.clock().now() + kPodTime;
}

Result<std::set<std::string>> pods_in(state::Store& store) {
  std::set<std::string> pods;
  for (const state::PodRecord& record : TRY(store.pods())) pods.insert(record.pod);
  for (const state::Attachment& attachment : TRY(store.attachments())) pods.insert(attachment.pod);
  return pods;
}

// Pods of a container runtime come and go with its requests, independently of the manifests.
bool is_of_runtime(const std::string& pod) {
  return !state::Sandbox::of_key(pod).container.empty();
}

void add_notes(PodsReport& report, const std::string& pod, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) report.notes.push_back(pod + ": " + note);
}

}  // namespace

Result<void> recover_pods(os::Kernel& kernel, state::Store& store, PodsReport& report) {
  attach::RecoveryReport recovery = TRY(attach::recover(kernel, store, pod_deadline(kernel)));
  for (const std::string& what : recovery.undone) report.recovered.push_back(what + ": undone");
  for (const std::string& what : recovery.finished) report.recovered.push_back(what + ": given back");
  std::ranges::move(recovery.notes, std::back_inserter(report.notes));
  for (attach::RecoveryReport::Failure& failure : recovery.failures)
    report.failures.push_back({failure.pod, failure.interface, std::move(failure.error)});
  return {};
}

Result<void> release_pod(os::Kernel& kernel, state::Store& store, PodServer* server, const std::string& pod,
                         PodsReport& report) {
  std::vector<state::PodRecord> records = TRY(store.pods());
  auto record = std::ranges::find(records, pod, &state::PodRecord::pod);
  if (server != nullptr) TRY(server->detach(pod, record == records.end() ? "" : record->netns));
  attach::DetachReport detached = TRY(attach::detach_pod(kernel, store, pod, pod_deadline(kernel)));
  add_notes(report, pod, detached.notes);
  if (record != records.end()) {
    if (record->netns_ours) {
      auto removed = kernel.netns().remove(record->netns_name);
      if (!removed && removed.error().code != Code::kNotFound)
        return std::move(removed).context("removing the namespace {}", record->netns_name);
    }
    TRY(store.forget_pod(pod));
  }
  report.detached.push_back(
      fmt::format("{}: {} interface{} detached", pod, detached.detached, detached.detached == 1 ? "" : "s"));
  return {};
}

namespace {

// A pod's failure is reported and does not stop the others; a request to stop does.
void release_or_tell(os::Kernel& kernel, state::Store& store, const Settings& settings, const std::string& pod,
                     Progress& progress, PodsReport& report) {
  progress.says(fmt::format("{}: detaching", pod));
  auto released = release_pod(kernel, store, settings.pod_server, pod, report);
  if (!released) report.failures.push_back({pod, "", std::move(std::move(released).context("detaching").error())});
}

}  // namespace

Result<void> release_unwanted(os::Kernel& kernel, state::Store& store, const Resolved& now, const Settings& settings,
                              Progress& progress, PodsReport& report) {
  std::set<std::string> wanted, anywhere;
  for (const graph::PodOnNode& pod : now.graph().pods)
    if (!pod.networks.empty()) wanted.insert(pod.pod->key());
  for (const api::Pod* pod : now.catalog().pods) anywhere.insert(pod->key());
  for (const std::string& pod : TRY(pods_in(store)))
    if (!wanted.contains(pod) && !is_of_runtime(pod)) release_or_tell(kernel, store, settings, pod, progress, report);
  for (const state::AddressLease& lease : TRY(store.all_leases()))
    if (!anywhere.contains(lease.pod) && !is_of_runtime(lease.pod))
      TRY(store.forget_leases(lease.pod, lease.interface));
  return {};
}

Result<void> release_disturbed(os::Kernel& kernel, state::Store& store, const plan::NodePlan& plan,
                               const Settings& settings, Progress& progress, PodsReport& report) {
  std::set<std::string> disturbed;
  for (const plan::PfPlan& pf : plan.pfs)
    for (const plan::Step& step : pf.steps) disturbed.insert(step.pods.begin(), step.pods.end());
  for (const std::string& pod : TRY(pods_in(store)))
    if (disturbed.contains(pod)) release_or_tell(kernel, store, settings, pod, progress, report);
  return {};
}

Result<void> release_all(os::Kernel& kernel, state::Store& store, const Settings& settings, Progress& progress,
                         PodsReport& report) {
  for (const std::string& pod : TRY(pods_in(store))) {
    if (settings.apply.stop.stop_requested()) {
      report.canceled = true;
      return {};
    }
    if (!is_of_runtime(pod)) release_or_tell(kernel, store, settings, pod, progress, report);
  }
  return {};
}

namespace {

// What the interfaces of all pods get by their networks' "ipam".
struct AddressPlan {
  PlannedAddresses assigned;
  std::map<ipam::Owner, std::vector<Route>> routes;
};

// Addresses of all pods in the manifests, those of other nodes included, and the state made to hold those of pods
// elsewhere: so that a file that is added later changes nothing, on any of the machines. Those of pods here are
// recorded when they are attached.
Result<AddressPlan> plan_and_reserve(state::Store& store, const Resolved& now, PlannedTypes types) {
  const std::vector<state::AddressLease> leases = TRY(store.all_leases());
  const std::vector<ipam::AddressClaim> claims = address_claims(now.catalog(), types);
  AddressPlan plan{.assigned = planned_addresses(claims, leases), .routes = {}};
  for (const ipam::AddressClaim& claim : claims) plan.routes.emplace(claim.owner, claim.config.routes);
  std::set<std::string> local;
  for (const graph::PodOnNode& pod : now.graph().pods) local.insert(pod.pod->key());
  for (const state::AddressLease& lease : missing_leases(plan.assigned, leases))
    if (!local.contains(lease.pod)) TRY(store.put_lease(lease));
  return plan;
}

class PodAttacher {
 public:
  PodAttacher(os::Kernel& kernel, state::Store& store, const Resolved& now, const AddressPlan& addresses,
              const ChosenVfs& vfs, PodServer* server, PodsReport& report)
      : kernel_(kernel), store_(store), now_(now), addresses_(addresses), vfs_(vfs), server_(server), report_(report) {}

  Result<void> attach(const graph::PodOnNode& pod) {
    std::string key = pod.pod->key();
    if (server_ != nullptr) return attach_by_server(key);
    attach::PodRequest wanted{.pod = key, .soft_rdma = now_.graph().soft_rdma};
    wanted.interfaces = TRY(interfaces_of(pod));
    wanted.netns_path = TRY(namespace_of(key));
    attach::PodReport done = TRY(attach::attach_pod(kernel_, store_, wanted, pod_deadline(kernel_)));
    add_notes(report_, key, done.notes);
    if (done.attached == 0 && done.detached == 0) return {};
    for (const attach::InterfaceResult& interface : done.interfaces)
      report_.attached.push_back(key + ": " + describe(interface));
    return {};
  }

 private:
  // The agent reads the same manifests, so it arrives at the same networks, devices and addresses.
  Result<void> attach_by_server(const std::string& pod) {
    std::vector<state::Attachment> before = TRY(store_.attachments_of(pod));
    const std::string netns = TRY(namespace_of(pod));
    TRY(server_->attach(pod, netns));
    std::vector<state::Attachment> after = TRY(store_.attachments_of(pod));
    if (after == before) return {};
    for (const state::Attachment& one : after) {
      if (one.result.empty()) continue;
      attach::InterfaceResult interface = TRY(attach::result_from_json(one.result));
      report_.attached.push_back(pod + ": " + describe(interface));
    }
    return {};
  }

  static std::string describe(const attach::InterfaceResult& interface) {
    std::string text = interface.interface.empty() ? interface.network : interface.interface + " is";
    if (interface.vf)
      text += fmt::format(" VF {} of {}", *interface.vf, interface.pf);
    else if (!interface.type.empty())
      text += " a " + interface.type;
    if (interface.device) text += fmt::format(" ({})", *interface.device);
    for (const IpPrefix& address : interface.addresses) text += fmt::format(", {}", address);
    if (interface.mtu > 0) text += fmt::format(", MTU {}", interface.mtu);
    if (!interface.rdma.empty()) text += fmt::format(", RDMA {}{}", interface.rdma, interface.soft ? " (soft)" : "");
    return text;
  }

  Result<std::vector<attach::InterfaceRequest>> interfaces_of(const graph::PodOnNode& pod) {
    std::string key = pod.pod->key();
    std::vector<attach::InterfaceRequest> wanted;
    for (const graph::PodNetwork& network : pod.networks) {
      if (network.network == nullptr) return fail(Code::kNotFound, "there is no network {}", network.key);
      attach::InterfaceRequest one{.name = TRY(IfName::parse(network.interface)),
                                   .network = network.key,
                                   .config = network.network->definition.config,
                                   .selection = *network.selection,
                                   .resource = network.network->resource};
      if (!one.resource.empty()) {
        const Result<plan::PoolVf>& vf = vfs_.at({key, network.interface});
        if (!vf) return fail(vf.error());
        one.device = *vf;
      }
      auto addresses = addresses_.assigned.find({key, network.interface});
      if (addresses != addresses_.assigned.end()) {
        if (!addresses->second) return fail(addresses->second.error());
        one.addresses = *addresses->second;
        one.routes = addresses_.routes.at(addresses->first);
      } else {
        // Left out of the plan: its ipam cannot be read, and this says why.
        TRY(api::read_ipam(one.config, network.key).context("interface {}", network.interface));
      }
      wanted.push_back(std::move(one));
    }
    return wanted;
  }

  // Returns the pod's namespace and creates it if necessary. The record comes first: a namespace created by a killed
  // run is known, and one that somebody else created is never mistaken for ours.
  Result<std::string> namespace_of(const std::string& pod) {
    std::string name = netns_name(pod);
    std::string path = kernel_.netns().path_of(name);
    std::vector<state::PodRecord> records = TRY(store_.pods());
    std::vector<std::string> names = TRY(kernel_.netns().names());
    bool there = std::ranges::find(names, name) != names.end();
    if (std::ranges::find(records, pod, &state::PodRecord::pod) == records.end()) {
      if (there)
        return fail(Error{.code = Code::kConflict,
                          .message = fmt::format("there is a namespace {} that railbed did not make", name),
                          .hint = fmt::format("if nobody needs it: ip netns del {}", name)});
      TRY(store_.put_pod({.pod = pod, .netns = path, .netns_name = name}));
    }
    // A process killed while it created the namespace may have left a name without a namespace, or one whose loopback
    // is down. Before the first interface is recorded, a namespace has nothing of the pod in it.
    std::vector<state::Attachment> attachments = TRY(store_.attachments());
    bool used = std::ranges::find(attachments, pod, &state::Attachment::pod) != attachments.end();
    if (there && !(used && kernel_.netns().open(path))) {
      TRY(kernel_.netns().remove(name));
      there = false;
    }
    if (!there) TRY(kernel_.netns().create(name));
    return path;
  }

  os::Kernel& kernel_;
  state::Store& store_;
  const Resolved& now_;
  const AddressPlan& addresses_;
  const ChosenVfs& vfs_;
  PodServer* server_;
  PodsReport& report_;
};

// A pod without any attached interface needs no namespace.
Result<void> remove_if_empty(os::Kernel& kernel, state::Store& store, PodServer* server, const std::string& pod) {
  std::vector<state::Attachment> attachments = TRY(store.attachments());
  if (std::ranges::find(attachments, pod, &state::Attachment::pod) != attachments.end()) return {};
  PodsReport unseen;
  return release_pod(kernel, store, server, pod, unseen);
}

}  // namespace

Result<void> attach_wanted(os::Kernel& kernel, state::Store& store, const Resolved& now, const Settings& settings,
                           Progress& progress, PodsReport& report) {
  const PlannedTypes types = settings.pod_server != nullptr ? PlannedTypes::kSameOnAllMachines : PlannedTypes::kAll;
  const AddressPlan addresses = TRY(plan_and_reserve(store, now, types));
  ChosenVfs vfs = TRY(choose_vfs(kernel, store, now));
  PodAttacher attacher(kernel, store, now, addresses, vfs, settings.pod_server, report);
  for (const graph::PodOnNode& pod : now.graph().pods) {
    if (pod.networks.empty()) continue;
    if (settings.apply.stop.stop_requested()) {
      report.canceled = true;
      return {};
    }
    progress.says(fmt::format("{}: attaching", pod.pod->key()));
    auto attached = attacher.attach(pod);
    if (attached) continue;
    report.failures.push_back({pod.pod->key(), "", std::move(attached.error())});
    TRY(remove_if_empty(kernel, store, settings.pod_server, pod.pod->key()));
  }
  return {};
}

Result<size_t> pending_interfaces(state::Store* store, const Resolved& now) {
  std::set<std::pair<std::string, std::string>> wanted;
  for (const graph::PodOnNode& pod : now.graph().pods)
    for (const graph::PodNetwork& network : pod.networks) wanted.insert({pod.pod->key(), network.interface});
  size_t unwanted = 0;
  if (store != nullptr)
    for (const state::Attachment& attachment : TRY(store->attachments()))
      if (!is_of_runtime(attachment.pod) && wanted.erase({attachment.pod, attachment.interface}) == 0) ++unwanted;
  return wanted.size() + unwanted;
}

}  // namespace railbed::node
