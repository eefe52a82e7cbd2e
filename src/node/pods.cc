// SPDX-License-Identifier: Apache-2.0
#include "node/pods.h"

#include <algorithm>
#include <set>

#include "apply/pci_device.h"
#include "attach/attach.h"
#include "node/netns_name.h"

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

// How many interfaces the pod has; several records may be of one.
Result<size_t> interfaces_of(state::Store& store, const std::string& pod) {
  std::set<std::string> names;
  for (const state::Attachment& record : TRY(store.attachments_of(pod))) {
    std::string_view name = record.interface;
    if (record.type.starts_with(attach::kProgramPrefix)) name.remove_prefix(attach::kProgramPrefix.size());
    names.emplace(name.substr(0, name.find_first_of("/#")));
  }
  return names.size();
}

void add_notes(PodsReport& report, const std::string& pod, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) report.notes.push_back(pod + ": " + note);
}

}  // namespace

Result<void> recover_pods(os::Kernel& kernel, state::Store& store, PodsReport& report) {
  attach::RecoveryReport recovery = TRY(attach::recover(kernel, store, pod_deadline(kernel)));
  for (const std::string& what : recovery.undone) report.recovered.push_back(what + ": undone");
  for (const std::string& what : recovery.finished) report.recovered.push_back(what + ": released");
  std::ranges::move(recovery.notes, std::back_inserter(report.notes));
  for (attach::RecoveryReport::Failure& failure : recovery.failures)
    report.failures.push_back({failure.pod, failure.interface, std::move(failure.error)});
  return {};
}

Result<void> release_pod(os::Kernel& kernel, state::Store& store, PodServer* server, const std::string& pod,
                         PodsReport& report) {
  std::vector<state::PodRecord> records = TRY(store.pods());
  auto record = std::ranges::find(records, pod, &state::PodRecord::pod);
  const size_t had = TRY(interfaces_of(store, pod));
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
  // Detached by this process or by an agent.
  report.detached.push_back(fmt::format("{}: {} interface{} detached", pod, had, had == 1 ? "" : "s"));
  return {};
}

namespace {

// A pod's failure is reported and does not stop the others; a request to stop does.
void release_or_report(os::Kernel& kernel, state::Store& store, const Settings& settings, const std::string& pod,
                       Progress& progress, PodsReport& report) {
  progress.says(fmt::format("{}: detaching", pod));
  auto released = release_pod(kernel, store, settings.pod_server, pod, report);
  if (!released) report.failures.push_back({pod, "", std::move(std::move(released).context("detaching").error())});
}

}  // namespace

namespace {

// Interfaces of a pod that stays.
Result<void> detach_some(os::Kernel& kernel, state::Store& store, const plan::PodStep& step, PodsReport& report) {
  for (const plan::PodInterface& one : step.interfaces) {
    attach::DetachReport detached =
        TRY(attach::detach_interface(kernel, store, step.pod, one.interface, pod_deadline(kernel)));
    add_notes(report, step.pod, detached.notes);
    report.detached.push_back(fmt::format("{}: {} detached ({})", step.pod, one.interface, one.why));
  }
  return {};
}

}  // namespace

Result<void> before_pfs(os::Kernel& kernel, state::Store& store, const PodDecisions& decided, const Settings& settings,
                        Progress& progress, PodsReport& report) {
  using plan::PodAction;
  if (std::ranges::find(decided.steps, PodAction::kRecover, &plan::PodStep::action) != decided.steps.end())
    TRY(recover_pods(kernel, store, report).context("finishing an interrupted earlier run"));
  for (const plan::PodStep& step : decided.steps) {
    if (step.action != PodAction::kDetach) continue;
    if (step.whole_pod) {
      release_or_report(kernel, store, settings, step.pod, progress, report);
      continue;
    }
    progress.says(fmt::format("{}: detaching", step.pod));
    auto done = detach_some(kernel, store, step, report);
    if (!done) report.failures.push_back({step.pod, "", std::move(std::move(done).context("detaching").error())});
  }
  for (const state::AddressLease& lease : decided.old_leases) TRY(store.forget_leases(lease.pod, lease.interface));
  return {};
}

Result<void> release_all(os::Kernel& kernel, state::Store& store, const Settings& settings, Progress& progress,
                         PodsReport& report) {
  for (const std::string& pod : TRY(pods_in(store))) {
    if (settings.apply.stop.stop_requested()) {
      report.canceled = true;
      return {};
    }
    if (!is_of_runtime(pod)) release_or_report(kernel, store, settings, pod, progress, report);
  }
  return {};
}

namespace {

class PodAttacher {
 public:
  PodAttacher(os::Kernel& kernel, state::Store& store, const PodDecisions& decided, const Settings& settings,
              PodsReport& report)
      : kernel_(kernel), store_(store), decided_(decided), settings_(settings), report_(report) {}

  Result<void> attach(const plan::PodStep& step) {
    if (auto problem = decided_.problems.find(step.pod); problem != decided_.problems.end())
      return fail(problem->second);
    if (settings_.pod_server != nullptr) return attach_by_server(step.pod);
    attach::PodRequest wanted{
        .pod = step.pod, .interfaces = decided_.requests.at(step.pod), .soft_rdma = decided_.soft_rdma};
    for (attach::InterfaceRequest& one : wanted.interfaces)
      if (one.device)
        one.device->address =
            apply::vf_address(kernel_.files(), one.device->pf, one.device->index, one.device->address);
    wanted.netns_path = TRY(namespace_of(step.pod));
    attach::PodReport done = TRY(attach::attach_pod(kernel_, store_, wanted, pod_deadline(kernel_)));
    add_notes(report_, step.pod, done.notes);
    for (size_t i = 0; i < done.interfaces.size(); ++i)
      if (std::ranges::find(step.interfaces, wanted.interfaces[i].name.value, &plan::PodInterface::interface) !=
          step.interfaces.end())
        report_.attached.push_back(step.pod + ": " + describe(done.interfaces[i]));
    return {};
  }

 private:
  // The agent reads the same manifests, so it arrives at the same networks, devices and addresses.
  Result<void> attach_by_server(const std::string& pod) {
    std::vector<state::Attachment> before = TRY(store_.attachments_of(pod));
    const std::string netns = TRY(namespace_of(pod));
    TRY(settings_.pod_server->attach(pod, netns));
    std::vector<state::Attachment> after = TRY(store_.attachments_of(pod));
    for (const state::Attachment& one : after) {
      if (one.result.empty() || std::ranges::find(before, one) != before.end()) continue;
      if (one.type.starts_with(attach::kProgramPrefix)) {
        report_.attached.push_back(fmt::format("{}: network {} by plugin {}", pod, one.network,
                                               one.type.substr(attach::kProgramPrefix.size())));
        continue;
      }
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

  // Returns the pod's namespace and creates it if necessary. The record comes first: a namespace created by a killed
  // run is known, and one that somebody else created is never mistaken for ours.
  Result<std::string> namespace_of(const std::string& pod) {
    std::string name = netns_name(pod);
    std::string path = kernel_.netns().path_of(name);
    std::vector<state::PodRecord> records = TRY(store_.pods());
    std::vector<std::string> names = TRY(kernel_.netns().names());
    bool there = std::ranges::find(names, name) != names.end();
    if (std::ranges::find(records, pod, &state::PodRecord::pod) == records.end()) {
      if (there) return fail(foreign_namespace(name));
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
  const PodDecisions& decided_;
  const Settings& settings_;
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

Result<void> behind_pfs(os::Kernel& kernel, state::Store& store, const PodDecisions& decided, const Settings& settings,
                        Progress& progress, PodsReport& report) {
  // So that a file that is added later changes no address, on any of the machines.
  for (const state::AddressLease& lease : decided.new_leases) TRY(store.put_lease(lease));
  PodAttacher attacher(kernel, store, decided, settings, report);
  for (const plan::PodStep& step : decided.steps) {
    if (step.action != plan::PodAction::kAttach) continue;
    if (settings.apply.stop.stop_requested()) {
      report.canceled = true;
      return {};
    }
    if (step.problem.empty()) progress.says(fmt::format("{}: attaching", step.pod));
    auto attached = attacher.attach(step);
    if (attached) continue;
    report.failures.push_back({step.pod, "", std::move(attached.error())});
    TRY(remove_if_empty(kernel, store, settings.pod_server, step.pod));
  }
  return {};
}

}  // namespace railbed::node
