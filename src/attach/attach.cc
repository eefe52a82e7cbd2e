// SPDX-License-Identifier: Apache-2.0
#include "attach/attach.h"

#include <algorithm>
#include <set>

#include "attach/bring.h"
#include "attach/give_back.h"
#include "attach/prepare.h"

namespace railbed::attach {
namespace {

using state::Attachment;
using state::AttachmentStatus;

// A number for what is made in this pod, so that it can be removed in one message. Above the small numbers
// that people choose, and below 2^31.
uint32_t group_of(const std::string& pod) {
  return 0x40000000u | (static_cast<uint32_t>(std::hash<std::string>{}(pod)) & 0x3fffffffu);
}

// What a plugin did that was executed: whoever ran it undoes it.
bool is_of_program(const Attachment& record) {
  return record.type.starts_with(kProgramPrefix);
}

Result<std::vector<Attachment>> attachments_of(state::Store& store, const std::string& pod) {
  std::vector<Attachment> all = TRY(store.attachments_of(pod));
  std::erase_if(all, is_of_program);
  return all;
}

// The failures of several interfaces as one error: the first, with the others' stories.
Error joined(const std::vector<RecoveryReport::Failure>& failures) {
  Error error = failures.front().error;
  error.context.push_back("interface " + failures.front().interface);
  for (size_t i = 1; i < failures.size(); ++i)
    error.message += fmt::format("; interface {}: {}", failures[i].interface, failures[i].error.story());
  return error;
}

class PodAttacher {
 public:
  PodAttacher(os::Kernel& kernel, state::Store& store, const PodWanted& wanted, os::Deadline deadline)
      : kernel_(kernel), store_(store), wanted_(wanted), deadline_(deadline), host_(kernel) {}

  Result<PodReport> run() {
    TRY(check_names());
    netns_ = TRY(kernel_.netns()
                     .open(wanted_.netns_path)
                     .hint("the pod's network namespace is gone: was the pod deleted meanwhile?"));
    inside_ = TRY(kernel_.netns().links(*netns_));
    TRY(settle_unfinished());
    std::vector<Wish> wishes = TRY(read_wishes());
    TRY(compare(wishes));
    TRY(detach_changed());
    if (!new_.empty()) TRY(attach_new());
    return report(wishes);
  }

 private:
  Result<void> check_names() {
    std::set<std::string> names;
    for (const InterfaceWanted& one : wanted_.interfaces)
      if (!names.insert(one.name.value).second)
        return fail(Code::kInvalid, "two networks of the pod want to be interface {}", one.name);
    return {};
  }

  // What a killed process left of this pod.
  Result<void> settle_unfinished() {
    std::vector<Attachment> unfinished = TRY(attachments_of(store_, wanted_.pod));
    std::erase_if(unfinished,
                  [](const Attachment& one) { return one.status == AttachmentStatus::kAttached; });
    return take_away(unfinished);
  }

  Result<void> take_away(const std::vector<Attachment>& records) {
    // A record may be of an earlier namespace of the pod.
    for (const std::string& path : paths_of(records)) {
      std::vector<Attachment> there;
      std::ranges::copy_if(records, std::back_inserter(there),
                           [&](const Attachment& one) { return one.netns == path; });
      GivenBack given = TRY(
          give_back(host_, store_, there, path == wanted_.netns_path ? netns_.get() : nullptr, deadline_));
      notes_.insert(notes_.end(), given.notes.begin(), given.notes.end());
      if (!given.failures.empty()) return fail(joined(given.failures));
    }
    return {};
  }

  static std::set<std::string> paths_of(const std::vector<Attachment>& records) {
    std::set<std::string> paths;
    for (const Attachment& one : records) paths.insert(one.netns);
    return paths;
  }

  Result<std::vector<Wish>> read_wishes() {
    leases_before_ = TRY(store_.all_leases());
    ipam::Taken taken = ipam::taken_by(leases_before_);
    std::vector<Wish> wishes;
    for (const InterfaceWanted& one : wanted_.interfaces) {
      api::IpamConfig config = TRY(ipam_of(one.config, one.network));
      ipam::Owner owner{wanted_.pod, one.name.value};
      std::vector<ipam::Assigned> addresses;
      if (one.addresses.has_value()) {
        addresses = *one.addresses;
      } else {
        std::vector<std::string> requested;
        for (const auto& address : one.selection.ips) requested.push_back(address.value);
        addresses =
            TRY(ipam::assign(config, one.network, taken, requested, owner).context("interface {}", one.name));
      }
      for (const ipam::Assigned& address : addresses)
        if (!address.pool.empty()) taken[address.pool].emplace(address.address.address, owner);
      wishes.push_back(TRY(
          read_wish(one, wanted_.soft_rdma, config, std::move(addresses)).context("interface {}", one.name)));
    }
    return wishes;
  }

  // Which interfaces stay, go and come.
  Result<void> compare(const std::vector<Wish>& wishes) {
    std::vector<Attachment> records = TRY(attachments_of(store_, wanted_.pod));
    std::vector<os::Link> inside;
    if (!records.empty()) inside = TRY(inside_->list(os::WithVfs::kNo));
    for (const Attachment& record : records) {
      auto wish = std::ranges::find(wishes, record.interface, &Wish::interface);
      bool stays = wish != wishes.end() && record.netns == wanted_.netns_path && same_wish(record, *wish) &&
                   is_there(record, inside);
      (stays ? kept_ : changed_).push_back(record);
    }
    for (const Wish& wish : wishes)
      if (std::ranges::find(kept_, wish.interface, &Attachment::interface) == kept_.end())
        new_.push_back(wish);
    return {};
  }

  bool is_there(const Attachment& record, const std::vector<os::Link>& inside) {
    Result<Before> before = before_of(record);
    if (!before.has_value()) return false;
    if (before->way == Way::kVfio) return device_exists(kernel_.files(), *before->device);
    return std::ranges::any_of(inside, [&](const os::Link& link) {
      if (link.name.value != record.interface) return false;
      if (before->way == Way::kMake) return link.kind == before->kind && link.group == before->group;
      return is_that(link, *before, record.interface);
    });
  }

  Result<void> detach_changed() { return take_away(changed_); }

  Result<void> attach_new() {
    host_.forget();
    std::vector<Attachment> others = TRY(store_.attachments());
    std::vector<Prepared> interfaces;
    for (const Wish& wish : new_) {
      interfaces.push_back(
          TRY(prepare(host_, wish, wanted_.pod, wanted_.netns_path, others, group_of(wanted_.pod))));
      others.push_back(interfaces.back().record);
    }
    TRY(write_down(interfaces));
    Result<void> brought = bring(host_, store_, {*netns_, *inside_}, interfaces, deadline_);
    if (brought.has_value()) brought = still_there();
    if (brought.has_value()) brought = conclude(interfaces);
    if (!brought.has_value()) return fail(undo(interfaces, std::move(brought.error())));
    for (Prepared& one : interfaces) results_.push_back(std::move(one.result));
    return {};
  }

  Result<void> write_down(const std::vector<Prepared>& interfaces) {
    auto transaction = TRY(state::Transaction::begin(store_));
    for (const Prepared& one : interfaces) {
      TRY(store_.put_attachment(one.record));
      for (const ipam::Assigned& address : one.wish.addresses)
        if (!address.pool.empty())
          TRY(store_.put_lease({address.pool, address.address.address, wanted_.pod, one.wish.interface}));
    }
    return transaction.commit();
  }

  // This process holds the namespace open, so it cannot end before that; but nobody finds it any more when
  // its path is gone, and the device would leave with it, unrecorded.
  Result<void> still_there() {
    auto again = kernel_.netns().open(wanted_.netns_path);
    if (again.has_value()) return {};
    if (again.error().code != Code::kNotFound) return fail(std::move(again.error()));
    return fail(Code::kNotFound, "network namespace {} vanished while its interfaces were attached",
                wanted_.netns_path);
  }

  Result<void> conclude(std::vector<Prepared>& interfaces) {
    auto transaction = TRY(state::Transaction::begin(store_));
    for (Prepared& one : interfaces) {
      one.record.status = AttachmentStatus::kAttached;
      one.record.result = to_json(one.result);
      TRY(store_.put_attachment(one.record));
    }
    return transaction.commit();
  }

  Error undo(const std::vector<Prepared>& interfaces, Error why) {
    std::vector<Attachment> records;
    for (const Prepared& one : interfaces) {
      records.push_back(one.record);
      records.back().status = AttachmentStatus::kBegun;
    }
    Result<GivenBack> given = give_back(host_, store_, records, netns_.get(), deadline_);
    Result<void> kept = put_leases_back();
    std::string trouble;
    if (!given.has_value()) trouble = given.error().story();
    if (given.has_value() && !given->failures.empty()) trouble = joined(given->failures).story();
    if (!kept.has_value()) trouble = kept.error().story();
    if (!trouble.empty())
      why.hint += fmt::format("{}what was done could not be undone ({}): `railbed down` tries again",
                              why.hint.empty() ? "" : "; ", trouble);
    return why;
  }

  // Leases that were there before this pod was attached are not this attachment's to forget.
  Result<void> put_leases_back() {
    for (const state::AddressLease& lease : leases_before_)
      if (lease.pod == wanted_.pod) TRY(store_.put_lease(lease));
    return {};
  }

  Result<PodReport> report(const std::vector<Wish>& wishes) {
    for (const Attachment& record : kept_) results_.push_back(TRY(result_from_json(record.result)));
    PodReport report{.kept = static_cast<int>(kept_.size()),
                     .attached = static_cast<int>(new_.size()),
                     .detached = static_cast<int>(changed_.size()),
                     .notes = std::move(notes_)};
    for (const Wish& wish : wishes)
      for (const InterfaceResult& result : results_)
        if (result.network == wish.network &&
            (result.interface == wish.interface || result.interface.empty()))
          report.interfaces.push_back(result);
    return report;
  }

  os::Kernel& kernel_;
  state::Store& store_;
  const PodWanted& wanted_;
  os::Deadline deadline_;
  Host host_;
  std::unique_ptr<os::Netns> netns_;
  std::unique_ptr<os::LinkPort> inside_;
  std::vector<state::AddressLease> leases_before_;
  std::vector<Attachment> kept_;
  std::vector<Attachment> changed_;
  std::vector<Wish> new_;
  std::vector<InterfaceResult> results_;
  std::vector<std::string> notes_;
};

// Whether the pod's namespace has gone without a detach.
Result<bool> namespace_gone(os::Kernel& kernel, const std::string& path) {
  auto opened = kernel.netns().open(path);
  if (opened.has_value()) return false;
  if (opened.error().code == Code::kNotFound) return true;
  return fail(std::move(opened.error()));
}

}  // namespace

Result<PodReport> attach_pod(os::Kernel& kernel, state::Store& store, const PodWanted& wanted,
                             os::Deadline deadline) {
  return PodAttacher(kernel, store, wanted, deadline).run().context("pod {}", wanted.pod);
}

Result<DetachReport> detach_pod(os::Kernel& kernel, state::Store& store, const std::string& pod,
                                os::Deadline deadline) {
  DetachReport report;
  std::vector<Attachment> records = TRY(attachments_of(store, pod));
  std::vector<RecoveryReport::Failure> failures;
  Host host(kernel);
  while (!records.empty()) {
    std::string path = records.front().netns;
    std::vector<Attachment> there;
    for (const Attachment& record : records)
      if (record.netns == path) there.push_back(record);
    std::erase_if(records, [&](const Attachment& record) { return record.netns == path; });
    GivenBack given = TRY(give_back(host, store, there, nullptr, deadline).context("pod {}", pod));
    report.detached += static_cast<int>(given.done.size());
    std::ranges::move(given.notes, std::back_inserter(report.notes));
    std::ranges::move(given.failures, std::back_inserter(failures));
  }
  if (failures.empty()) return report;
  Error error = joined(failures);
  error.context.push_back("pod " + pod);
  return fail(std::move(error));
}

Result<RecoveryReport> recover(os::Kernel& kernel, state::Store& store, os::Deadline deadline) {
  RecoveryReport report;
  std::map<std::pair<std::string, std::string>, std::vector<Attachment>> todo;
  std::map<std::string, bool> gone;
  for (const Attachment& record : TRY(store.attachments())) {
    if (is_of_program(record)) continue;
    if (!gone.contains(record.netns)) gone[record.netns] = TRY(namespace_gone(kernel, record.netns));
    if (record.status != AttachmentStatus::kAttached || gone[record.netns])
      todo[{record.pod, record.netns}].push_back(record);
  }
  Host host(kernel);
  for (const auto& [pod, records] : todo) {
    GivenBack given = TRY(give_back(host, store, records, nullptr, deadline));
    for (const Attachment& record : given.done)
      (record.status == AttachmentStatus::kBegun ? report.undone : report.finished)
          .push_back(record.pod + " " + record.interface);
    for (const std::string& note : given.notes)
      report.notes.push_back(fmt::format("pod {}, {}", pod.first, note));
    std::ranges::move(given.failures, std::back_inserter(report.failures));
  }
  return report;
}

}  // namespace railbed::attach
