// SPDX-License-Identifier: Apache-2.0
#include "attach/attach.h"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "attach/bring.h"
#include "attach/give_back.h"
#include "attach/prepare.h"
#include "attach/presence.h"

namespace railbed::attach {
namespace {

using state::Attachment;
using state::AttachmentStatus;

// Executed plugins are undone by their caller.
bool is_of_program(const Attachment& record) {
  return record.type.starts_with(kProgramPrefix);
}

Result<std::vector<Attachment>> attachments_of(state::Store& store, const std::string& pod) {
  std::vector<Attachment> all = TRY(store.attachments_of(pod));
  std::erase_if(all, is_of_program);
  return all;
}

// Whether a record belongs to this interface: it is its own, or that of a change.
bool is_of(const std::string& record_name, const std::string& interface) {
  return record_name == interface || record_name.starts_with(interface + "/");
}

// Joins the failures of several interfaces: the first error, with the others' messages.
Error joined(const std::vector<RecoveryReport::Failure>& failures) {
  Error error = failures.front().error;
  error.context.push_back("interface " + failures.front().interface);
  for (size_t i = 1; i < failures.size(); ++i)
    error.message += fmt::format("; interface {}: {}", failures[i].interface, failures[i].error.story());
  return error;
}

}  // namespace

class Transaction::Work {
 public:
  Work(os::Kernel& kernel, state::Store& store, const PodRequest& request, const WaitPolicy& wait)
      : kernel_(kernel), store_(store), request_(request), deadline_(wait.deadline), host_(kernel, wait) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() { abandon(); }

  const std::string& pod() const { return request_.pod; }

  Result<void> begin() {
    TRY(check_names());
    netns_ = TRY(kernel_.netns()
                     .open(request_.netns_path)
                     .hint("the pod's network namespace no longer exists; the pod may have been deleted"));
    is_at_path_ = TRY(kernel_.netns().leads_to(request_.netns_path, *netns_));
    inside_ = TRY(kernel_.netns().links(*netns_));
    view_.emplace(*netns_, *inside_);
    TRY(settle_unfinished());
    specs_ = TRY(read_specs());
    TRY(compare());
    TRY(detach_changed());
    if (!new_.empty()) TRY(prepare_new());
    return {};
  }

  Result<PodReport> bring() {
    Result<PodReport> done = change_machine();
    if (!done.has_value()) return fail(roll_back(std::move(done.error())));
    return done;
  }

  Result<void> open_records() {
    if (records_.has_value()) return {};
    Result<state::Transaction> begun = state::Transaction::begin(store_);
    if (!begun.has_value()) return fail(roll_back(std::move(begun.error())));
    records_.emplace(*std::move(begun));
    return {};
  }

  Result<void> commit() {
    if (records_.has_value())
      if (Result<void> done = records_->commit(); !done.has_value()) return fail(roll_back(std::move(done.error())));
    is_undoable_ = false;
    return {};
  }

  Error roll_back(Error why) {
    records_.reset();
    if (!std::exchange(is_undoable_, false) || host_.lock_lost()) return why;
    return undo(std::move(why));
  }

 private:
  Result<void> check_names() {
    std::set<std::string> names;
    for (const InterfaceRequest& one : request_.interfaces)
      if (!names.insert(one.record_name()).second)
        return fail(Code::kInvalid, "two networks of the pod request the interface name {}", one.name);
    return {};
  }

  // Cleans up after a killed process that worked on this pod.
  Result<void> settle_unfinished() {
    std::vector<Attachment> unfinished = TRY(attachments_of(store_, request_.pod));
    std::erase_if(unfinished, [&](const Attachment& one) {
      return one.status == AttachmentStatus::kAttached || (request_.others_stay && !concerns(one));
    });
    return take_away(unfinished);
  }

  // Whether the record belongs to a wanted interface.
  bool concerns(const Attachment& record) const {
    return std::ranges::any_of(request_.interfaces,
                               [&](const InterfaceRequest& one) { return is_of(record.interface, one.record_name()); });
  }

  // A record may belong to an earlier namespace of the pod.
  Result<void> take_away(const std::vector<Attachment>& records) {
    if (records.empty()) return {};
    GivenBack given = TRY(give_back_anywhere(host_, store_, records, deadline_));
    notes_.insert(notes_.end(), given.notes.begin(), given.notes.end());
    if (!given.failures.empty()) return fail(joined(given.failures));
    for (const Attachment& record : TRY(attachments_of(store_, request_.pod)))
      if (is_orphan(record) && std::ranges::find(records, record.interface, &Attachment::interface) != records.end())
        return fail(Error{.code = Code::kConflict,
                          .message = fmt::format("an earlier interface {} of this pod is orphaned: {}",
                                                 record.interface, orphan_reason(record).why),
                          .hint = "retry when " + orphan_reason(record).until});
    return {};
  }

  Result<std::vector<InterfaceSpec>> read_specs() {
    leases_before_ = TRY(store_.leases_of(request_.pod));
    std::vector<InterfaceSpec> specs;
    for (const InterfaceRequest& one : request_.interfaces)
      specs.push_back(TRY(read_spec(one, request_.soft_rdma).context("interface {}", one.name)));
    return specs;
  }

  // Decides which interfaces stay, go and come.
  Result<void> compare() {
    for (const Attachment& record : TRY(attachments_of(store_, request_.pod))) {
      if (request_.others_stay && !concerns(record)) continue;
      auto spec =
          std::ranges::find_if(specs_, [&](const InterfaceSpec& one) { return one.record_name() == record.interface; });
      if (spec == specs_.end() && request_.others_stay) continue;  // a change of an interface that stays
      bool stays = spec != specs_.end() && record.netns == request_.netns_path && same_spec(record, *spec) &&
                   TRY(is_in_pod(kernel_.files(), *view_, record));
      (stays ? kept_ : changed_).push_back(record);
    }
    take_changes_along();
    for (const InterfaceSpec& spec : specs_)
      if (std::ranges::find(kept_, spec.record_name(), &Attachment::interface) == kept_.end()) new_.push_back(spec);
    return {};
  }

  // When an interface goes, its changes go with it.
  void take_changes_along() {
    std::vector<Attachment> stay;
    for (Attachment& record : kept_) {
      bool goes = std::ranges::any_of(
          changed_, [&](const Attachment& other) { return is_of(record.interface, other.interface); });
      (goes ? changed_ : stay).push_back(std::move(record));
    }
    kept_ = std::move(stay);
  }

  Result<void> detach_changed() { return take_away(changed_); }

  Result<void> prepare_new() {
    host_.forget();
    if (!changed_.empty()) view_->forget();
    const Place place = TRY(this->place());
    for (const InterfaceSpec& spec : new_) {
      TRY(refuse_changing(spec, spec.device));
      const Prepared& one = interfaces_.emplace_back(TRY(prepare(host_, store_, spec, place, interfaces_)));
      TRY(refuse_changing(spec, one.spec.pf));
      TRY(refuse_changing(spec, one.before.device));
    }
    TRY(write_down());
    is_undoable_ = true;
    return {};
  }

  Result<PodReport> change_machine() {
    if (interfaces_.empty()) return report();
    TRY(configure_links(host_, store_, *view_, interfaces_, deadline_));
    TRY(still_there());
    records_.emplace(TRY(state::Transaction::begin(store_)));
    for (Prepared& one : interfaces_) {
      one.record.status = AttachmentStatus::kAttached;
      one.record.result = to_json(one.result);
      one.record.undo = undo_text(one.record.undo, one.before);  // with what proves which interface it is
      TRY(store_.put_attachment(one.record));
      results_.emplace(one.record.interface, std::move(one.result));
    }
    return report();
  }

  Result<Place> place() {
    const NetnsRef ref = TRY(netns_ref_of(kernel_, *netns_));
    return Place{.pod = request_.pod,
                 .netns = request_.netns_path,
                 .view = *view_,
                 .group = LinkGroup::of_pod(request_.pod),
                 .identity = *ref.identity,
                 .nsid = ref.nsid};
  }

  Result<void> refuse_changing(const InterfaceSpec& spec, const std::optional<PciAddress>& device) const {
    if (!device.has_value() || !request_.is_changing || !request_.is_changing(*device)) return {};
    return fail(Error{.code = Code::kBusy,
                      .message = fmt::format(
                          "interface {} (network {}): device {} is being changed for this node's SriovNetworkNodeState",
                          spec.interface, spec.network, *device),
                      .hint = "the runtime will retry; progress is in the SriovNetworkNodeState status"});
  }

  Result<void> write_down() {
    auto transaction = TRY(state::Transaction::begin(store_));
    for (const Prepared& one : interfaces_) {
      TRY(store_.put_attachment(one.record));
      for (const ipam::Assigned& address : one.spec.addresses)
        if (!address.pool.empty())
          TRY(store_.put_lease({address.pool, address.address.address, request_.pod, one.spec.interface}));
    }
    return transaction.commit();
  }

  // This process holds the namespace open, so it still exists. But where its path leads elsewhere by now the runtime
  // has given the pod up, or another one. A runtime with mounts of its own has paths that never lead anywhere here.
  Result<void> still_there() {
    if (!is_at_path_) return {};
    if (TRY(kernel_.netns().leads_to(request_.netns_path, *netns_))) return {};
    return fail(Code::kNotFound, "network namespace {} vanished while its interfaces were attached",
                request_.netns_path);
  }

  // Of a transaction that its caller has not ended.
  void abandon() noexcept {
    try {
      (void)roll_back({});
    } catch (const std::exception&) {  // no memory: what is left is recorded
    }
  }

  Error undo(Error why) {
    std::vector<Attachment> records;
    for (const Prepared& one : interfaces_) {
      records.push_back(one.record);
      records.back().status = AttachmentStatus::kBegun;
    }
    Result<GivenBack> given =
        give_back(host_, store_, records, {.state = NetnsState::kThere, .netns = netns_, .error = {}}, deadline_);
    if (host_.lock_lost()) return why;
    Result<void> kept = put_leases_back();
    std::string trouble;
    if (!given.has_value()) trouble = given.error().story();
    if (given.has_value() && !given->failures.empty()) trouble = joined(given->failures).story();
    if (!kept.has_value()) trouble = kept.error().story();
    if (!trouble.empty())
      why.hint += fmt::format("{}rolling back failed ({}); `railbed down` will retry it", why.hint.empty() ? "" : "; ",
                              trouble);
    return why;
  }

  // Leases that existed before this attachment are not removed with it.
  Result<void> put_leases_back() {
    for (const state::AddressLease& lease : leases_before_) TRY(store_.put_lease(lease));
    return {};
  }

  Result<PodReport> report() {
    for (const Attachment& record : kept_) results_.emplace(record.interface, TRY(result_from_json(record.result)));
    PodReport report{.kept = static_cast<int>(kept_.size()),
                     .attached = static_cast<int>(new_.size()),
                     .detached = static_cast<int>(changed_.size()),
                     .notes = std::move(notes_)};
    for (const InterfaceSpec& spec : specs_)
      if (auto found = results_.find(spec.record_name()); found != results_.end())
        report.interfaces.push_back(found->second);
    return report;
  }

  os::Kernel& kernel_;
  state::Store& store_;
  const PodRequest& request_;
  os::Deadline deadline_;
  Host host_;
  std::shared_ptr<os::Netns> netns_;
  bool is_at_path_ = false;  // in this process's own mounts, when the request began
  std::unique_ptr<os::LinkPort> inside_;
  std::optional<PodView> view_;
  std::vector<state::AddressLease> leases_before_;  // the pod's
  std::vector<Attachment> kept_;
  std::vector<Attachment> changed_;
  std::vector<InterfaceSpec> specs_;  // of the request
  std::vector<InterfaceSpec> new_;
  std::vector<Prepared> interfaces_;                // of `new_`
  std::map<std::string, InterfaceResult> results_;  // by record name
  std::vector<std::string> notes_;
  bool is_undoable_ = false;                   // the undo is recorded, and neither done nor needless
  std::optional<state::Transaction> records_;  // of the last records
};

std::string InterfaceRequest::record_name() const {
  if (!chained || config.plugins.empty()) return name.value;
  return name.value + "/" + config.plugins.front().type;
}

Transaction::Transaction(std::unique_ptr<Work> work) : work_(std::move(work)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

Result<Transaction> Transaction::begin(os::Kernel& kernel, state::Store& store, const PodRequest& request,
                                       const WaitPolicy& wait) {
  auto work = std::make_unique<Work>(kernel, store, request, wait);
  TRY(work->begin().context("pod {}", request.pod));
  return Transaction(std::move(work));
}

Result<PodReport> Transaction::bring() {
  return work_->bring().context("pod {}", work_->pod());
}

Result<void> Transaction::open_records() {
  return work_->open_records().context("pod {}", work_->pod());
}

Result<void> Transaction::commit() {
  return work_->commit().context("pod {}", work_->pod());
}

Error Transaction::roll_back(Error why) {
  return work_->roll_back(std::move(why));
}

Result<PodReport> attach_pod(os::Kernel& kernel, state::Store& store, const PodRequest& request,
                             const WaitPolicy& wait) {
  Transaction attaching = TRY(Transaction::begin(kernel, store, request, wait));
  PodReport report = TRY(attaching.bring());
  TRY(attaching.commit());
  return report;
}

namespace {

Result<DetachReport> detach(os::Kernel& kernel, state::Store& store, std::vector<Attachment> records,
                            const WaitPolicy& wait) {
  if (records.empty()) return DetachReport{};
  Host host(kernel, wait);
  GivenBack given = TRY(give_back_anywhere(host, store, std::move(records), wait.deadline));
  if (!given.failures.empty()) return fail(joined(given.failures));
  return DetachReport{.detached = static_cast<int>(given.done.size()),
                      .orphaned = static_cast<int>(given.orphans.size()),
                      .notes = std::move(given.notes)};
}

}  // namespace

Result<DetachReport> detach_pod(os::Kernel& kernel, state::Store& store, const std::string& pod,
                                const WaitPolicy& wait) {
  std::vector<Attachment> records = TRY(attachments_of(store, pod));
  return detach(kernel, store, std::move(records), wait).context("pod {}", pod);
}

Result<DetachReport> detach_interface(os::Kernel& kernel, state::Store& store, const std::string& pod,
                                      const std::string& record_name, const WaitPolicy& wait) {
  std::vector<Attachment> records = TRY(attachments_of(store, pod));
  std::erase_if(records, [&](const Attachment& one) { return !is_of(one.interface, record_name); });
  return detach(kernel, store, std::move(records), wait).context("pod {}", pod);
}

namespace {

// Whether recover() has to give it back: what is attached stays with its namespace for as long as that has not ended.
bool is_to_recover(const Attachment& record, const NetnsPlace& place, LookForNamespaces look) {
  if (place.state == NetnsState::kEnded) return true;
  if (record.status == AttachmentStatus::kAttached) return false;
  return place.state == NetnsState::kThere || (look == LookForNamespaces::kYes && !is_orphan(record));
}

}  // namespace

Result<RecoveryReport> recover(os::Kernel& kernel, state::Store& store, const WaitPolicy& wait,
                               LookForNamespaces look) {
  RecoveryReport report;
  std::vector<Attachment> records = TRY(store.attachments());
  std::erase_if(records, is_of_program);
  std::vector<NetnsRef> refs;
  for (const Attachment& record : records) refs.push_back(netns_ref_of(record));
  Namespaces spaces(kernel);
  spaces.open(refs);
  if (look == LookForNamespaces::kYes && !spaces.all_known())
    spaces.look();
  else
    spaces.ask_for_ends();
  std::map<std::pair<std::string, NetnsRef>, std::vector<Attachment>> todo;
  for (size_t i = 0; i < records.size(); ++i) {
    const NetnsPlace& place = spaces.place_of(refs[i]);
    if (is_to_recover(records[i], place, look)) todo[{records[i].pod, refs[i]}].push_back(records[i]);
    if (place.state == NetnsState::kUnknown) report.unreachable.push_back(records[i].pod + " " + records[i].interface);
  }
  Host host(kernel, wait);
  for (const auto& [of, records_there] : todo) {
    GivenBack given = TRY(give_back(host, store, records_there, spaces.place_of(of.second), wait.deadline));
    for (const Attachment& record : given.done)
      (record.status == AttachmentStatus::kBegun ? report.undone : report.finished)
          .push_back(record.pod + " " + record.interface);
    for (const std::string& note : given.notes) report.notes.push_back(fmt::format("pod {}, {}", of.first, note));
    std::ranges::move(given.failures, std::back_inserter(report.failures));
  }
  TRY(number_old_records(kernel, store, spaces).context("which network namespaces pods of an earlier railbed have"));
  return report;
}

}  // namespace railbed::attach
