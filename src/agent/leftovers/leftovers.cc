// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/leftovers.h"

#include <algorithm>
#include <map>
#include <set>

#include "agent/addresses/address_notes.h"
#include "agent/addresses/leftover_files.h"
#include "agent/engine.h"
#include "agent/leftovers/in_use.h"
#include "agent/leftovers/restore_records.h"
#include "agent/records/exec_records.h"
#include "agent/records/meta_records.h"
#include "agent/records/runtime_containers.h"
#include "attach/attach.h"
#include "attach/held.h"
#include "attach/namespaces.h"
#include "attach/record.h"
#include "base/well_known.h"
#include "facts/collect.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

using state::Attachment;
using state::AttachmentStatus;

constexpr std::chrono::seconds kWorkTime{60};

constexpr std::string_view kKindNames[] = {"interface", "program", "address", "sandbox",
                                           "link",      "file",    "device",  "pending"};

std::string status_reason(AttachmentStatus status) {
  return status == AttachmentStatus::kBegun ? "its ADD never finished" : "its DEL never finished";
}

class Finder {
 public:
  Finder(os::Kernel& kernel, state::Store& store, os::Disk& disk, DurableRecords& durable)
      : kernel_(kernel), store_(store), durable_(durable), of_runtime_(RuntimeContainers::look(disk)) {}

  Result<std::vector<Leftover>> find() {
    // Looking needs no lock: what an ADD adds meanwhile has records by the time that they are read.
    pods_ = TRY(store_.pods());
    records_ = TRY(store_.attachments());
    for (DurableProgram& one : TRY(programs_to_restore(store_, durable_))) records_.push_back(std::move(one.record));
    find_records();
    TRY(find_leases());
    TRY(find_sandboxes());
    TRY(find_links());
    find_devices();
    return std::move(found_);
  }

 private:
  bool is_gone(const std::string& netns) {
    auto known = gone_.find(netns);
    if (known != gone_.end()) return known->second;
    auto opened = kernel_.netns().open(netns);
    return gone_[netns] = !opened.has_value() && opened.error().code == Code::kNotFound;
  }

  void find_records() {
    std::vector<attach::NetnsRef> refs;
    for (const Attachment& record : records_)
      if (!is_of_earlier_boot(record)) refs.push_back(attach::netns_ref_of(record));
    spaces_.open(refs);
    if (!spaces_.all_known()) spaces_.look();
    for (const Attachment& record : records_) {
      if (is_of_earlier_boot(record))
        find_of_earlier_boot(record);
      else
        find_record(record, spaces_.place_of(attach::netns_ref_of(record)));
    }
  }

  void find_record(const Attachment& record, const attach::NetnsPlace& place) {
    const bool has_ended = place.state == attach::NetnsState::kEnded;
    const bool is_reached = place.state == attach::NetnsState::kThere;
    if (is_reached && record.status == AttachmentStatus::kAttached) return;
    Leftover& found =
        found_.emplace_back(Leftover{.kind = is_of_program(record) ? LeftoverKind::kProgram : LeftoverKind::kInterface,
                                     .pod = record.pod,
                                     .what = record.interface,
                                     .why = has_ended ? fmt::format("its namespace {} no longer exists", record.netns)
                                                      : status_reason(record.status),
                                     .netns = record.netns});
    const bool is_hidden = attach::orphaned_by(record) == attach::OrphanedBy::kHidden;
    const bool may_be_there = !has_ended && (!is_reached || is_hidden);
    if (!may_be_there && !attach::is_with_a_machine(kernel_.files(), record)) return;
    found.removable = false;
    const attach::OrphanReason reason = attach::orphan_reason(record);
    found.why = (attach::is_orphan(record) ? "orphaned after its DEL: " : "") + reason.why;
    found.hint = "device and addresses stay reserved until " + reason.until;
  }

  // After a reboot the runtime sends DEL for what it still has.
  void find_of_earlier_boot(const Attachment& record) {
    const std::string container = state::Sandbox::of_key(record.pod).container;
    if (of_runtime_.knows(container)) return;
    found_.push_back({.kind = LeftoverKind::kProgram,
                      .pod = record.pod,
                      .what = record.interface,
                      .why = fmt::format("the machine has rebooted since, and container {} is unknown", container)});
  }

  // Leases of the manifests' pods are plans and may have no interface yet; leases of a sandbox need one.
  Result<void> find_leases() {
    for (const state::AddressLease& lease : TRY(store_.all_leases())) {
      if (state::Sandbox::of_key(lease.pod).container.empty()) continue;
      bool owned = std::ranges::any_of(records_, [&](const Attachment& record) {
        return record.pod == lease.pod &&
               (record.interface == lease.interface || record.interface.starts_with(lease.interface + "/"));
      });
      if (owned) continue;
      if (auto where = TRY(store_.note(adopted_key({lease.pod, lease.interface})))) {
        find_adopted(lease, *where);
        continue;
      }
      found_.push_back({.kind = LeftoverKind::kAddress,
                        .pod = lease.pod,
                        .what = lease.address.to_string(),
                        .why = fmt::format("the sandbox has no interface {}", lease.interface),
                        .hint = lease.interface,
                        .pool = lease.pool});
    }
    return {};
  }

  // Addresses that whereabouts gave to a container of this machine. Nothing is known here about other machines.
  void find_adopted(const state::AddressLease& lease, const std::string& where) {
    const std::string container = state::Sandbox::of_key(lease.pod).container;
    if (where != kHere || of_runtime_.knows(container)) return;
    found_.push_back({.kind = LeftoverKind::kAddress,
                      .pod = lease.pod,
                      .what = lease.address.to_string(),
                      .why = fmt::format("whereabouts allocated it to container {}, which is unknown", container),
                      .hint = lease.interface,
                      .pool = lease.pool});
  }

  Result<void> find_sandboxes() {
    std::set<std::string> noted;
    for (const SandboxNote& note : TRY(sandbox_notes(store_))) {
      noted.insert(note.key);
      if (has_records(note.key)) continue;
      const bool dead =
          note.netns.empty() ? !of_runtime_.knows(state::Sandbox::of_key(note.key).container) : is_gone(note.netns);
      if (!dead) continue;
      found_.push_back({.kind = LeftoverKind::kSandbox,
                        .pod = note.key,
                        .what = note.ifname,
                        .why = note.netns.empty() ? "the machine has rebooted since"
                                                  : fmt::format("its namespace {} no longer exists", note.netns)});
    }
    for (const state::PodRecord& pod : pods_)
      if (!state::Sandbox::of_key(pod.pod).container.empty() && !noted.contains(pod.pod) && !has_records(pod.pod))
        found_.push_back({.kind = LeftoverKind::kSandbox,
                          .pod = pod.pod,
                          .what = pod.netns,
                          .why = "it has no interface known to railbed"});
    return {};
  }

  bool has_records(const std::string& key) const {
    return std::ranges::find(records_, key, &Attachment::pod) != records_.end();
  }

  // Looks in the namespaces of known pods.
  Result<void> find_links() {
    const std::optional<std::set<uint64_t>> of_before = TRY(namespaces_of_before(store_));
    std::map<std::string, std::string> namespaces;  // path → pod
    for (const Attachment& record : records_) namespaces.emplace(record.netns, record.pod);
    for (const state::PodRecord& pod : pods_) namespaces.emplace(pod.netns, pod.pod);
    for (const auto& [path, pod] : namespaces) {
      auto netns = kernel_.netns().open(path);
      if (!netns.has_value()) continue;
      auto links = kernel_.netns().links(**netns);
      if (!links.has_value()) continue;
      for (const os::Link& link : TRY((*links)->list(os::WithVfs::kNo))) {
        if (!attach::LinkGroup::is_of_a_pod(link.group)) continue;
        bool known = std::ranges::any_of(records_, [&](const Attachment& record) {
          return record.netns == path && record.interface == link.name.value;
        });
        if (known) continue;
        found_.push_back({.kind = LeftoverKind::kLink,
                          .pod = pod,
                          .what = link.name.value,
                          .why = fmt::format("railbed created it in {} but has no record of it", path),
                          .netns = path});
        if (of_before.has_value() && !of_before->contains(TRY((*links)->namespace_number()).number)) continue;
        found_.back().removable = false;
        found_.back().hint =
            "the pod may use it, because it is older than this state; it is removed with the namespace";
      }
    }
    return {};
  }

  void find_devices() {
    facts::NodeFacts facts = facts::collect(kernel_, {});
    for (const facts::Nic& nic : facts.nics)
      for (const facts::Vf& vf : nic.vfs) {
        if (vf.netdev || vf.pci.driver.empty() || vf.pci.driver.starts_with("vfio")) continue;
        std::string address = vf.pci.address.to_string();
        if (std::ranges::find(records_, address, &Attachment::device) != records_.end()) continue;
        found_.push_back({.kind = LeftoverKind::kDevice,
                          .pod = "",
                          .what = address,
                          .why = "this VF is in a namespace unknown to railbed",
                          .hint = "it returns when the last process in that namespace exits",
                          .removable = false});
      }
  }

  os::Kernel& kernel_;
  state::Store& store_;
  DurableRecords& durable_;
  std::vector<state::PodRecord> pods_;
  std::vector<Attachment> records_;
  RuntimeContainers of_runtime_;
  std::map<std::string, bool> gone_;  // by path
  attach::Namespaces spaces_{kernel_};
  std::vector<Leftover> found_;
};

class Remover {
 public:
  Remover(os::Kernel& kernel, state::Store& store, os::Disk& disk, DurableRecords& durable,
          std::vector<Leftover>& leftovers)
      : kernel_(kernel), store_(store), disk_(disk), durable_(durable), leftovers_(leftovers) {}

  Result<void> run() {
    TRY(recover_interfaces());
    const ProgramsUndone undone = TRY(undo_all());
    // Whatever follows is quick.
    auto hold = TRY(store_.hold(kTurnWait));
    TRY(forget_programs(undone));
    for (Leftover& one : leftovers_) {
      if (!one.removable) continue;
      Result<void> done;
      switch (one.kind) {
        case LeftoverKind::kAddress:
          done = forget_address(one);
          break;
        case LeftoverKind::kSandbox:
          done = forget_sandbox(one.pod);
          break;
        case LeftoverKind::kLink:
          done = remove_link(one);
          break;
        case LeftoverKind::kFile:
          done = remove_leftover_file(store_, disk_, one);
          break;
        default:
          continue;
      }
      one.removed = done.has_value();
      if (!done.has_value()) one.error = done.error().story();
    }
    return {};
  }

 private:
  Result<void> recover_interfaces() {
    if (std::ranges::find(leftovers_, LeftoverKind::kInterface, &Leftover::kind) == leftovers_.end()) return {};
    auto hold = TRY(store_.hold(kTurnWait));
    const attach::RecoveryReport recovery = TRY(attach::recover(kernel_, store_, kernel_.clock().now() + kWorkTime));
    const std::vector<Attachment> left = TRY(store_.attachments());
    for (Leftover& one : leftovers_) {
      if (one.kind != LeftoverKind::kInterface) continue;
      one.removed = is_gone(one, left);
      one.note = note_of(one, recovery.notes);
      for (const auto& failure : recovery.failures)
        if (failure.pod == one.pod && failure.interface == one.what) one.error = failure.error.story();
    }
    return {};
  }

  static bool is_gone(const Leftover& one, const std::vector<Attachment>& left) {
    return std::ranges::none_of(
        left, [&](const Attachment& record) { return record.pod == one.pod && record.interface == one.what; });
  }

  // Without the state's lock: a plugin may ask the agent for addresses, or to give some back.
  Result<ProgramsUndone> undo_all() {
    std::vector<Attachment> records;
    for (const Leftover& one : leftovers_) {
      if (one.kind != LeftoverKind::kProgram) continue;
      for (const Attachment& record : TRY(store_.attachments_of(one.pod)))
        if (record.interface == one.what) records.push_back(record);
    }
    RunningPlugins plugins(kernel_);
    ProgramsUndone undone = undo_programs(plugins, records);
    TRY(durable_.forget_programs(undone.done));
    return undone;
  }

  Result<void> forget_programs(const ProgramsUndone& undone) {
    for (const Attachment& record : undone.done) {
      TRY(store_.forget_attachment(record.pod, record.interface));
      // Of an earlier boot, nothing else is left.
      if (is_of_earlier_boot(record) && TRY(store_.attachments_of(record.pod)).empty()) TRY(forget_sandbox(record.pod));
    }
    TRY(store_.scrub());
    const std::vector<Attachment> left = TRY(store_.attachments());
    for (Leftover& one : leftovers_) {
      if (one.kind != LeftoverKind::kProgram) continue;
      one.removed = is_gone(one, left);
      for (const auto& failure : undone.failures)
        if (failure.record.pod == one.pod && failure.record.interface == one.what) one.error = failure.why.story();
    }
    return {};
  }

  Result<void> forget_address(const Leftover& one) {
    auto transaction = TRY(state::Transaction::begin(store_));
    TRY(store_.forget_leases(one.pod, one.hint));
    TRY(store_.forget_note(adopted_key({one.pod, one.hint})));
    return transaction.commit();
  }

  // Strips the prefix with pod and interface that attach gives its notes.
  static std::string note_of(const Leftover& one, const std::vector<std::string>& notes) {
    const std::string head = fmt::format("pod {}, interface {}: ", one.pod, one.what);
    std::string all;
    for (const std::string& note : notes)
      if (note.starts_with(head)) all += (all.empty() ? "" : "; ") + note.substr(head.size());
    return all;
  }

  Result<void> forget_sandbox(const std::string& key) {
    if (auto note = TRY(sandbox_note(store_, key)); note.has_value())
      for (const std::string& file : note->device_info) TRY(disk_.remove(file));
    TRY(store_.forget_note("network-status/" + key));
    TRY(forget_sandbox_note(store_, key));
    return store_.forget_pod(key);
  }

  Result<void> remove_link(const Leftover& one) {
    auto netns = TRY(kernel_.netns().open(one.netns));
    auto links = TRY(kernel_.netns().links(*netns));
    IfName name = TRY(IfName::parse(one.what));
    os::Link link = TRY(links->find(name, os::WithVfs::kNo));
    return links->remove(link.index);
  }

  os::Kernel& kernel_;
  state::Store& store_;
  os::Disk& disk_;
  DurableRecords& durable_;
  std::vector<Leftover>& leftovers_;
};

}  // namespace

std::string_view kind_name(LeftoverKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

Result<std::vector<Leftover>> find_leftovers(os::Kernel& kernel, state::Store* store, os::Disk& disk,
                                             const std::string& pending_dir, DurableRecords& durable) {
  std::vector<Leftover> found;
  // Without a state there are records on disk and host-local's files anyway.
  std::unique_ptr<state::Store> none = store == nullptr ? state::memory_store() : nullptr;
  state::Store& known = store == nullptr ? *none : *store;
  found = TRY(Finder(kernel, known, disk, durable).find());
  for (Leftover& one : TRY(find_leftover_files(kernel, known, disk))) found.push_back(std::move(one));
  Result<std::vector<std::string>> pending = disk.list(pending_dir);
  if (!pending.has_value() && pending.error().code != Code::kNotFound) return fail(std::move(pending.error()));
  if (pending.has_value())
    for (const std::string& file : *pending)
      found.push_back({.kind = LeftoverKind::kPending,
                       .pod = "",
                       .what = pending_dir + "/" + file,
                       .why = "a DEL that arrived while no agent answered",
                       .hint = "start the agent, which retries it, or see its log",
                       .removable = false});
  return found;
}

Result<void> remove_leftovers(os::Kernel& kernel, state::Store& store, os::Disk& disk, DurableRecords& durable,
                              std::vector<Leftover>& leftovers) {
  return Remover(kernel, store, disk, durable, leftovers).run();
}

doc::Value to_value(const std::vector<Leftover>& leftovers) {
  doc::Value list = doc::Value::array();
  for (const Leftover& one : leftovers) {
    doc::Value value = doc::Value::object();
    value.set("kind", kind_name(one.kind));
    value.set("what", one.what);
    if (!one.pod.empty()) value.set("pod", one.pod);
    value.set("why", one.why);
    if (!one.pool.empty()) value.set("pool", one.pool);
    value.set("removable", one.removable);
    value.set("removed", one.removed);
    if (!one.note.empty()) value.set("note", one.note);
    if (!one.error.empty()) value.set("error", one.error);
    list.push(std::move(value));
  }
  doc::Value out = doc::Value::object();
  out.set("apiVersion", kOwnApiVersion);
  out.set("kind", "Leftovers");
  out.set("leftovers", std::move(list));
  return out;
}

}  // namespace railbed::agent
