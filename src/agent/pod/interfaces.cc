// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/interfaces.h"

#include <algorithm>
#include <exception>

#include "agent/addresses/dhcp.h"
#include "agent/context/metrics.h"
#include "agent/records/exec_records.h"
#include "agent/records/records.h"
#include "attach/record.h"
#include "base/check.h"

namespace railbed::agent {

class InterfaceTransaction::Work {
 public:
  Work(Backends& backends, SandboxAttachment wanted)
      : backends_(backends),
        wanted_(std::move(wanted)),
        request_(wanted_.request),
        sandbox_(sandbox_of(request_)),
        key_(sandbox_.key()),
        interfaces_(wanted_.interfaces),
        addresses_(interfaces_.size()),
        held_(backends.engine) {
    for (const SandboxInterface& one : interfaces_) {
      if (!one.interface.chained) owners_.push_back(one.addresses.owner);
      backends_.note_interface(one.interface.network, "");
    }
  }

  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() {
    if (!is_made_) return;
    try {
      (void)roll_back({});
    } catch (const std::exception&) {  // no memory: what is left is recorded
    }
  }

  Result<std::vector<AttachedInterface>> bring() {
    if (std::ranges::any_of(interfaces_, [](const SandboxInterface& one) { return one.program.has_value(); }))
      ipam_lock_ = ipam_lock(backends_.engine, request_.container_id);
    TRY(ask_programs());
    Result<void> made = make();
    if (!made.has_value()) return fail(undone(std::move(made.error())));
    is_made_ = true;
    return std::move(attached_);
  }

  Engine::Turn& turn() {
    RAILBED_CHECK(is_made_ && held_.held());
    return **held_.get();
  }

  Result<void> commit() {
    RAILBED_CHECK(is_made_);
    Result<void> done = attaching_.has_value() ? attaching_->commit() : records_->commit();
    if (!done.has_value()) return fail(roll_back(std::move(done.error())));
    end();
    return {};
  }

  Error roll_back(Error why) {
    if (attaching_.has_value()) {
      why.hint = cni::hint_of(why);
      why = attaching_->roll_back(std::move(why));
      attaching_.reset();
      why = with_addresses_released(std::move(why));
    } else {
      records_.reset();
      take_away_if_wanted();
    }
    return undone(std::move(why));
  }

 private:
  os::Deadline deadline() const { return backends_.engine.kernel().clock().now() + kAttachTime; }
  bool has_dhcp() const { return std::ranges::any_of(addresses_, &Addresses::dhcp); }

  static Error in(const SandboxInterface& one, Error why) {
    if (!one.title.empty()) why.context.push_back(fmt::format("network {}", one.title));
    return why;
  }

  // After success and failure.
  void end() {
    is_made_ = false;
    kernel_time_.reset();
    held_.end();
    container_lock_.reset();
  }

  Error undone(Error why) {
    end();
    if (wanted_.after_failure == AfterFailure::kUndo) undo_programs(why);
    return why;
  }

  // --- outside of a turn, before the interfaces are there

  Result<void> ask_programs() {
    for (size_t i = 0; i < interfaces_.size(); ++i) {
      if (!interfaces_[i].program.has_value()) continue;
      PhaseTimer timer(backends_, request_.type, Phase::kExec);
      Result<ForeignAddresses> given = acquire_foreign(backends_.engine, *interfaces_[i].program);
      if (!given.has_value()) return fail(in(interfaces_[i], std::move(given.error())));
      drop_defaults(interfaces_[i].dropped, given->addresses.result.routes);
      addresses_[i] = std::move(given->addresses);
      programs_.push_back(std::move(given->record));
    }
    return {};
  }

  // The container's lock is not held: the program may ask the agent for addresses in its name.
  void undo_programs(Error& why) {
    for (const SandboxInterface& one : interfaces_) {
      if (!one.program.has_value()) continue;
      if (auto undone = undo_foreign_ipam(backends_.engine, key_, one.addresses.owner.interface); !undone.has_value())
        cni::add_hint(why, fmt::format("releasing its addresses failed: {}", undone.error().story()));
    }
  }

  // --- the turns

  // Ends with the last records in an open transaction, of attach or of the store.
  Result<void> make() {
    container_lock_ = backends_.engine.container(request_.container_id);
    {
      PhaseTimer timer(backends_, request_.type, Phase::kWait);
      TRY(held_.get());
    }
    if (!interfaces_.empty()) TRY(reserve_and_attach());
    if (attaching_.has_value()) return {};
    Result<void> done = finish();
    if (!done.has_value()) take_away_if_wanted();
    return done;
  }

  Result<void> finish() {
    if (!has_dhcp()) return open_last_records();
    TRY(put_first_records());
    held_.end();  // a server may take its time
    for (size_t i = 0; i < interfaces_.size(); ++i)
      if (addresses_[i].dhcp) TRY(lease(i));
    Engine::Turn& turn = *TRY(held_.get());
    for (size_t i = 0; i < interfaces_.size(); ++i)
      if (addresses_[i].dhcp)
        TRY(add_addresses(turn, interfaces_[i].addresses.owner, request_.netns, addresses_[i].result,
                          attached_[i].interface));
    return open_last_records();
  }

  // The interface for which this node has leased no address that is free, with what that makes of the request.
  struct Lacking {
    size_t interface = 0;
    Error why;
  };
  using Reserved = std::optional<Lacking>;  // nullopt: all interfaces have their addresses

  Result<Reserved> choose_and_reserve() {
    Engine::Turn& turn = *TRY(held_.get());
    if (wanted_.choose_devices) {
      PhaseTimer timer(backends_, request_.type, Phase::kPrepare);
      TRY(wanted_.choose_devices(turn, interfaces_));
    }
    return reserve(turn);
  }

  // Where this node has leased no address that is free, the turn is let go until it has.
  Result<void> reserve_with_more() {
    Reserved lacking = TRY(choose_and_reserve());
    const auto end = std::chrono::steady_clock::now() + kSupplyWait;
    for (int tried = 0; lacking.has_value() && tried < kSupplyTries; ++tried) {
      const size_t interface = lacking->interface;
      TRY(release_chosen());
      held_.end();
      const AddressSupply::Supplied more = supplied(end);
      lacking = TRY(choose_and_reserve());
      if (lacking.has_value() && more.why_not.has_value()) return fail(in(interfaces_[interface], *more.why_not));
    }
    if (lacking.has_value()) return fail(std::move(lacking->why));
    return {};
  }

  AddressSupply::Supplied supplied(std::chrono::steady_clock::time_point end) {
    PhaseTimer timer(backends_, request_.type, Phase::kLease);
    std::vector<AddressNeed> needs;
    for (const SandboxInterface& one : interfaces_)
      if (is_reserved_here(one))
        if (std::optional<AddressNeed> need = need_of(one.addresses)) needs.push_back(*std::move(need));
    return backends_.supply->more(std::move(needs), end);
  }

  // Addresses that no interface has come to have.
  Result<void> release_chosen() {
    Engine::Turn* turn = TRY(held_.get());
    return release_addresses(*turn, backends_.host_local, owners_);
  }

  Result<void> reserve_and_attach() {
    Result<void> done = reserve_with_more();
    if (done.has_value()) done = attach();
    if (done.has_value()) return {};
    return fail(with_addresses_released(std::move(done.error())));
  }

  Error with_addresses_released(Error why) {
    kernel_time_.reset();
    if (!held_.held()) {
      cni::add_hint(why, "the changes so far are recorded; the DEL undoes them");
      return why;
    }
    if (Result<void> freed = release_chosen(); !freed.has_value())
      cni::add_hint(why, "releasing its addresses failed: " + freed.error().story());
    return why;
  }

  static bool is_reserved_here(const SandboxInterface& one) {
    return !one.interface.chained && !one.program.has_value();
  }

  Result<Reserved> reserve(Engine::Turn& turn) {
    if (!wanted_.note.has_value() && std::ranges::none_of(interfaces_, is_reserved_here)) return Reserved();
    PhaseTimer timer(backends_, request_.type, Phase::kAddresses);
    HostLocal::Locks locks;
    auto transaction = TRY(state::Transaction::begin(turn.store()));
    if (wanted_.note.has_value()) TRY(put_sandbox_note(turn.store(), *wanted_.note));
    Result<Reserved> chosen = choose_addresses(turn, locks);
    TRY(transaction.commit());  // also after a failure: what was chosen is given back as a whole
    if (!chosen.has_value() || chosen->has_value()) return chosen;
    for (size_t i = 0; i < interfaces_.size(); ++i) {
      if (!is_reserved_here(interfaces_[i])) continue;
      Result<void> finished = finish_addresses(turn, backends_.host_local, addresses_[i]);
      if (!finished.has_value()) return fail(in(interfaces_[i], std::move(finished.error())));
      drop_defaults(interfaces_[i].dropped, addresses_[i].result.routes);
    }
    return Reserved();
  }

  Result<Reserved> choose_addresses(Engine::Turn& turn, HostLocal::Locks& locks) {
    for (size_t i = 0; i < interfaces_.size(); ++i) {
      SandboxInterface& one = interfaces_[i];
      if (!is_reserved_here(one)) continue;
      Result<Addresses> chosen = choose_addresses_of(turn, locks, one);
      if (!chosen.has_value()) {
        const bool lacks = backends_.supply != nullptr && more_may_help(chosen.error());
        Error why = in(one, std::move(chosen.error()));
        if (!lacks || !need_of(one.addresses).has_value()) return fail(std::move(why));
        return Reserved(Lacking{.interface = i, .why = std::move(why)});
      }
      addresses_[i] = *std::move(chosen);
    }
    return Reserved();
  }

  Result<Addresses> choose_addresses_of(Engine::Turn& turn, HostLocal::Locks& locks, SandboxInterface& one) {
    if (wanted_.reserved.has_value()) {
      const ReservedPod& from = *wanted_.reserved;
      one.addresses.planned = TRY(from.reservations.take(turn, from.source, from.pod, one.addresses.owner));
    }
    return begin_addresses(turn, backends_.host_local, locks, one.addresses);
  }

  Result<void> attach() {
    Engine::Turn& turn = *TRY(held_.get());
    kernel_time_.emplace(backends_, request_.type, Phase::kKernel);
    pod_ = {.pod = key_,
            .netns_path = request_.netns,
            .interfaces = {},
            .soft_rdma = wanted_.soft_rdma,
            .others_stay = wanted_.others_stay,
            .is_changing = [&engine = backends_.engine](PciAddress device) { return engine.is_changing(device); }};
    for (size_t i = 0; i < interfaces_.size(); ++i) {
      attach::InterfaceRequest& one = pod_.interfaces.emplace_back(std::move(interfaces_[i].interface));
      one.addresses = addresses_[i].assigned;
      one.addresses_later = addresses_[i].dhcp;
      one.routes = addresses_[i].result.routes;
      if (one.device.has_value()) backends_.note_interface(one.network, fmt::format("{}", one.device->address));
    }
    auto attaching = TRY(attach::Transaction::begin(turn.kernel(), turn.store(), pod_, held_.wait_policy()));
    attach::PodReport report = TRY(attaching.bring());
    for (attach::InterfaceResult& one : report.interfaces) {
      backends_.note_interface(one.network, one.device.has_value() ? fmt::format("{}", *one.device) : "");
      attached_.push_back({std::move(one), {}});
    }
    if (has_dhcp()) {
      TRY(attaching.commit());
      kernel_time_.reset();
      return {};
    }
    TRY(attaching.open_records());
    if (Result<void> put = put_last_records(); !put.has_value()) {
      put.error().hint = cni::hint_of(put.error());
      return fail(attaching.roll_back(std::move(put.error())));
    }
    attaching_.emplace(std::move(attaching));
    return {};
  }

  // --- outside of a turn, once the interfaces are there

  Result<void> lease(size_t i) {
    PhaseTimer timer(backends_, request_.type, Phase::kLease);
    const AddressRequest& request = interfaces_[i].addresses;
    addresses_[i].result = TRY(backends_.dhcp.acquire({.owner = request.owner,
                                                       .container_id = request_.container_id,
                                                       .network = request.network,
                                                       .netns_path = request_.netns,
                                                       .ipam = request.ipam,
                                                       .cni_args = request.cni_args},
                                                      deadline()));
    drop_defaults(interfaces_[i].dropped, addresses_[i].result.routes);
    return {};
  }

  // --- the records

  // Those that a DEL needs while a DHCP server is asked.
  Result<void> put_first_records() {
    Engine::Turn& turn = *TRY(held_.get());
    auto transaction = TRY(state::Transaction::begin(turn.store()));
    TRY(put_records(turn.store()));
    TRY(transaction.commit());
    programs_.clear();
    return {};
  }

  Result<void> open_last_records() {
    Engine::Turn& turn = *TRY(held_.get());
    records_.emplace(TRY(state::Transaction::begin(turn.store())));
    Result<void> put = put_last_records();
    if (!put.has_value()) records_.reset();
    return put;
  }

  Result<void> put_last_records() {
    Engine::Turn& turn = *TRY(held_.get());
    TRY(put_records(turn.store()));
    for (size_t i = 0; i < attached_.size(); ++i) attached_[i].answer = answer_of(i);
    return {};
  }

  Result<void> put_records(state::Store& store) {
    for (const state::Attachment& record : programs_) TRY(store.put_attachment(record));
    return remember_pod(store, sandbox_, request_.netns);
  }

  cni::AddResult answer_of(size_t i) const {
    const attach::InterfaceRequest& one = pod_.interfaces[i];
    const attach::InterfaceResult& made = attached_[i].interface;
    if (one.chained) return merged(*one.previous, made, one.name.value);
    cni::AddResult answer = result_of(made, request_.netns, addresses_[i].result);
    prefer_own_dns(answer, one.config.plugins.front().config);
    replace_defaults(one.selection.default_route, answer.routes);
    return answer;
  }

  // After a failure behind the attachment; what stays is in the records.
  void take_away_if_wanted() {
    if (wanted_.after_failure == AfterFailure::kToCaller) return;
    held_.end();
    HeldTurn turn(backends_.engine);
    InterfacesToGiveBack gone{.key = key_, .records = {}, .owners = owners_};
    for (const attach::InterfaceRequest& one : pod_.interfaces)
      gone.records.insert(gone.records.begin(), one.record_name());
    (void)give_back_interfaces(backends_, turn, gone);
    if (Result<Engine::Turn*> held = turn.get(); held.has_value()) (void)forget_pod_if_empty((*held)->store(), key_);
  }

  Backends& backends_;
  SandboxAttachment wanted_;
  const cni::Request& request_;
  state::Sandbox sandbox_;
  std::string key_;
  std::vector<SandboxInterface>& interfaces_;
  std::vector<ipam::Owner> owners_;          // of their addresses
  std::vector<Addresses> addresses_;         // by interface
  attach::PodRequest pod_;                   // as attach was asked
  std::vector<AttachedInterface> attached_;  // by interface, until bring() returns them
  std::vector<state::Attachment> programs_;  // of IPAM plugins that were executed
  std::optional<PhaseTimer> kernel_time_;
  bool is_made_ = false;  // brought, and neither committed nor rolled back
  // The transactions end before the turn, and the turn before the locks.
  std::unique_ptr<Engine::ContainerLock> ipam_lock_;
  std::unique_ptr<Engine::ContainerLock> container_lock_;
  HeldTurn held_;
  std::optional<attach::Transaction> attaching_;  // with the last records, where no DHCP server was asked
  std::optional<state::Transaction> records_;     // otherwise: of the last records
};

namespace {

// The whole of what we made for the sandbox costs fewer messages than each of it.
bool is_all(const std::vector<state::Attachment>& records, const std::vector<std::string>& names) {
  return std::ranges::all_of(records, [&](const state::Attachment& one) {
    return is_of_program(one) || std::ranges::find(names, one.interface) != names.end();
  });
}

class Leaver {
 public:
  Leaver(Backends& backends, HeldTurn& turn, const InterfacesToGiveBack& gone)
      : backends_(backends), turn_(turn), gone_(gone) {}

  std::vector<NotGivenBack> run() {
    for (const ipam::Owner& one : gone_.owners) {
      if (!backends_.dhcp.has(one)) continue;
      turn_.end();  // a server is informed, from the pod's namespace
      note(backends_.dhcp.release(one), one.interface);
    }
    Result<Engine::Turn*> turn = turn_.get();
    if (turn.has_value()) {
      detach(**turn);
      turn = turn_.get();  // waiting for a device lets it go
    }
    if (turn.has_value())
      release(**turn);
    else
      note(std::move(turn), "");
    return std::move(failures_);
  }

 private:
  template <typename T>
  void note(Result<T> done, const std::string& interface) {
    if (!done.has_value()) failures_.push_back({interface, done.error()});
  }

  void detach(Engine::Turn& turn) {
    auto records = turn.store().attachments_of(gone_.key);
    if (!records.has_value()) return note(std::move(records), "");
    for (const state::Attachment& one : *records)
      if (std::ranges::find(gone_.records, one.interface) != gone_.records.end())
        backends_.note_interface(one.network, one.device);
    if (is_all(*records, gone_.records))
      return note(attach::detach_pod(turn.kernel(), turn.store(), gone_.key, turn_.wait_policy()), "");
    const attach::WaitPolicy wait = turn_.wait_policy();
    for (const std::string& one : gone_.records)
      if (turn_.held()) note(attach::detach_interface(turn.kernel(), turn.store(), gone_.key, one, wait), "");
  }

  // The addresses of an orphan stay its own: its pod may live (attach/give_back.h).
  void release(Engine::Turn& turn) {
    auto records = turn.store().attachments_of(gone_.key);
    if (!records.has_value()) return note(std::move(records), "");
    std::vector<ipam::Owner> owners = gone_.owners;
    std::erase_if(owners, [&](const ipam::Owner& owner) {
      return std::ranges::any_of(*records, [&](const state::Attachment& one) {
        return attach::is_orphan(one) && one.interface.substr(0, one.interface.find('/')) == owner.interface;
      });
    });
    note(release_addresses(turn, backends_.host_local, owners), "");
  }

  Backends& backends_;
  HeldTurn& turn_;
  const InterfacesToGiveBack& gone_;
  std::vector<NotGivenBack> failures_;
};

Result<void> ask_program(Engine& engine, const state::Attachment& record) {
  constexpr cni::Version kCheckSince{0, 4, 0};
  auto version = cni::parse_version(TRY(version_of(record)));
  if (!version.has_value() || *version < kCheckSince) return {};
  return execute(engine.running_plugins(), TRY(execution_of(record, cni::Command::kCheck)));
}

}  // namespace

InterfaceTransaction::InterfaceTransaction(Backends& backends, SandboxAttachment wanted)
    : work_(std::make_unique<Work>(backends, std::move(wanted))) {}
InterfaceTransaction::~InterfaceTransaction() = default;

Result<std::vector<AttachedInterface>> InterfaceTransaction::bring() {
  return work_->bring();
}
Engine::Turn& InterfaceTransaction::turn() {
  return work_->turn();
}
Result<void> InterfaceTransaction::commit() {
  return work_->commit();
}
Error InterfaceTransaction::roll_back(Error why) {
  return work_->roll_back(std::move(why));
}

Result<Engine::Turn*> HeldTurn::get() {
  if (!turn_.has_value()) turn_.emplace(TRY(engine_.turn(kTurnWait)));
  return &*turn_;
}

attach::WaitPolicy HeldTurn::wait_policy() {
  attach::WaitPolicy wait(engine_.kernel().clock().now() + kAttachTime);
  wait.stop = engine_.stopping();
  wait.without_lock = [this](attach::LongWait kind, const attach::WaitPolicy::Work& work) -> Result<void> {
    end();
    {
      std::unique_ptr<Engine::Removal> removal;
      if (kind == attach::LongWait::kRemoval) removal = engine_.removal();
      work();
    }
    TRY(get());
    return {};
  };
  return wait;
}

std::vector<NotGivenBack> give_back_interfaces(Backends& backends, HeldTurn& turn, const InterfacesToGiveBack& gone) {
  return Leaver(backends, turn, gone).run();
}

Result<size_t> check_interfaces(Backends& backends, const cni::Request& request, const CheckScope& scope) {
  size_t count = 0;
  std::vector<state::Attachment> programs;
  {
    auto one_at_a_time = backends.engine.container(request.container_id);
    Engine::Turn turn = TRY(backends.engine.turn(kTurnWait));
    const os::Deadline deadline = turn.kernel().clock().now() + kAttachTime;
    for (const std::string& key : TRY(keys_of_container(turn.store(), request))) {
      std::vector<std::string> names;
      if (!scope.record.empty()) names.push_back(scope.record);
      for (state::Attachment& record : TRY(turn.store().attachments_of(key))) {
        ++count;
        if (is_of_program(record)) {
          if (scope.record.empty() || is_foreign_ipam(record, scope.program_of)) programs.push_back(std::move(record));
        } else if (scope.record.empty()) {
          names.push_back(record.interface);
        }
      }
      for (const std::string& name : names)
        TRY(attach::check_interface(turn.kernel(), turn.store(), key, name, deadline));
    }
  }
  for (const state::Attachment& record : programs) TRY(ask_program(backends.engine, record));
  return count;
}

}  // namespace railbed::agent
