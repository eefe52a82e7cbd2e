// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/interfaces.h"

#include <algorithm>

#include "agent/addresses/dhcp.h"
#include "agent/context/metrics.h"
#include "agent/records/exec_records.h"
#include "agent/records/records.h"
#include "attach/record.h"

namespace railbed::agent {
namespace {

using cni::Outcome;

void add_detail(cni::Failure& why, const std::string& text) {
  why.details += (why.details.empty() ? "" : "; ") + text;
}

class InterfaceAttacher {
 public:
  InterfaceAttacher(Backends& backends, SandboxAttachment& wanted)
      : backends_(backends),
        wanted_(wanted),
        request_(wanted.request),
        sandbox_(sandbox_of(wanted.request)),
        key_(sandbox_.key()),
        held_(backends.engine),
        interfaces_(wanted.interfaces),
        addresses_(interfaces_.size()) {
    for (const SandboxInterface& one : interfaces_) {
      if (!one.interface.chained) owners_.push_back(one.addresses.owner);
      backends_.tell(one.interface.network, "");
    }
  }

  Outcome<std::vector<AttachedInterface>> run() {
    std::unique_ptr<Engine::ContainerLock> one_at_a_time;
    if (std::ranges::any_of(interfaces_, [](const SandboxInterface& one) { return one.program.has_value(); }))
      one_at_a_time = ipam_lock(backends_.engine, request_.container_id);
    TRY_CNI(ask_programs());
    Outcome<void> made = make();
    held_.end();
    if (made.has_value()) return std::move(attached_);
    if (wanted_.after_failure == AfterFailure::kUndo) undo_programs(made.error());
    return std::unexpected(std::move(made.error()));
  }

 private:
  os::Deadline deadline() const { return backends_.engine.kernel().clock().now() + kAttachTime; }

  static std::unexpected<cni::Failure> in(const SandboxInterface& one, cni::Failure why) {
    if (!one.title.empty()) why.message = fmt::format("network {}: {}", one.title, why.message);
    return std::unexpected(std::move(why));
  }

  // --- outside of a turn, before the interfaces are there

  Outcome<void> ask_programs() {
    for (size_t i = 0; i < interfaces_.size(); ++i) {
      if (!interfaces_[i].program.has_value()) continue;
      PhaseTimer timer(backends_, request_.type, Phase::kExec);
      Outcome<ForeignAddresses> given = acquire_foreign(backends_.engine, *interfaces_[i].program);
      if (!given.has_value()) return in(interfaces_[i], std::move(given.error()));
      drop_defaults(interfaces_[i].dropped, given->addresses.result.routes);
      addresses_[i] = std::move(given->addresses);
      programs_.push_back(std::move(given->record));
    }
    return {};
  }

  // The container's lock is not held: the program may ask the agent for addresses in its name.
  void undo_programs(cni::Failure& why) {
    for (const SandboxInterface& one : interfaces_) {
      if (!one.program.has_value()) continue;
      if (auto undone = undo_foreign_ipam(backends_.engine, key_, one.addresses.owner.interface); !undone.has_value())
        add_detail(why, fmt::format("releasing its addresses failed: {}", undone.error().message));
    }
  }

  // --- the turns

  Outcome<void> make() {
    auto one_at_a_time = backends_.engine.container(request_.container_id);
    {
      PhaseTimer timer(backends_, request_.type, Phase::kWait);
      TRY_CNI(held_.get());
    }
    if (!interfaces_.empty()) TRY_CNI(reserve_and_attach());
    if (is_concluded_) return {};
    Outcome<void> done = finish();
    if (done.has_value() || wanted_.after_failure == AfterFailure::kToCaller) return done;
    held_.end();
    take_away();
    return done;
  }

  Outcome<void> finish() {
    if (std::ranges::none_of(addresses_, &Addresses::dhcp)) return conclude(Last::kYes);
    TRY_CNI(conclude(Last::kNo));
    held_.end();  // a server may take its time
    for (size_t i = 0; i < interfaces_.size(); ++i)
      if (addresses_[i].dhcp) TRY_CNI(lease(i));
    Engine::Turn& turn = *TRY_CNI(held_.get());
    for (size_t i = 0; i < interfaces_.size(); ++i)
      if (addresses_[i].dhcp)
        TRY_CNI(add_addresses(turn, interfaces_[i].addresses.owner, request_.netns, addresses_[i].result,
                              attached_[i].interface));
    return conclude(Last::kYes);
  }

  // The interface for which this node has leased no address that is free, with what that makes of the request.
  struct Lacking {
    size_t interface = 0;
    cni::Failure failure;
  };
  using Reserved = std::optional<Lacking>;  // nullopt: all interfaces have their addresses

  Outcome<Reserved> choose_and_reserve() {
    Engine::Turn& turn = *TRY_CNI(held_.get());
    if (wanted_.choose_devices) {
      PhaseTimer timer(backends_, request_.type, Phase::kPrepare);
      TRY_CNI(wanted_.choose_devices(turn, interfaces_));
    }
    return reserve(turn);
  }

  // Where this node has leased no address that is free, the turn is let go until it has.
  Outcome<void> reserve_with_more() {
    Reserved lacking = TRY_CNI(choose_and_reserve());
    const auto end = std::chrono::steady_clock::now() + kSupplyWait;
    for (int tried = 0; lacking.has_value() && tried < kSupplyTries; ++tried) {
      const size_t interface = lacking->interface;
      TRY_CNI(release_chosen());
      held_.end();
      const AddressSupply::Supplied more = supplied(end);
      lacking = TRY_CNI(choose_and_reserve());
      if (lacking.has_value() && more.why_not.has_value())
        return in(interfaces_[interface], cni::failure_of(*more.why_not));
    }
    if (lacking.has_value()) return std::unexpected(std::move(lacking->failure));
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

  Outcome<void> reserve_and_attach() {
    Outcome<void> done = reserve_with_more();
    if (done.has_value()) done = attach();
    if (done.has_value()) return {};
    if (!held_.held()) {
      add_detail(done.error(), "the changes so far are recorded; the DEL undoes them");
      return done;
    }
    if (Result<void> freed = release_chosen(); !freed.has_value())
      add_detail(done.error(), "releasing its addresses failed: " + freed.error().story());
    return done;
  }

  static bool is_reserved_here(const SandboxInterface& one) {
    return !one.interface.chained && !one.program.has_value();
  }

  Outcome<Reserved> reserve(Engine::Turn& turn) {
    if (!wanted_.begin && std::ranges::none_of(interfaces_, is_reserved_here)) return Reserved();
    PhaseTimer timer(backends_, request_.type, Phase::kAddresses);
    HostLocal::Locks locks;
    auto transaction = TRY_CNI(state::Transaction::begin(turn.store()));
    if (wanted_.begin) TRY_CNI(wanted_.begin(turn));
    Outcome<Reserved> chosen = choose_addresses(turn, locks);
    TRY_CNI(transaction.commit());  // also after a failure: what was chosen is given back as a whole
    if (!chosen.has_value() || chosen->has_value()) return chosen;
    for (size_t i = 0; i < interfaces_.size(); ++i) {
      if (!is_reserved_here(interfaces_[i])) continue;
      Result<void> finished = finish_addresses(turn, backends_.host_local, addresses_[i]);
      if (!finished.has_value()) return in(interfaces_[i], cni::failure_of(finished.error()));
      drop_defaults(interfaces_[i].dropped, addresses_[i].result.routes);
    }
    return Reserved();
  }

  Outcome<Reserved> choose_addresses(Engine::Turn& turn, HostLocal::Locks& locks) {
    for (size_t i = 0; i < interfaces_.size(); ++i) {
      SandboxInterface& one = interfaces_[i];
      if (!is_reserved_here(one)) continue;
      Result<Addresses> chosen = choose_addresses_of(turn, locks, one);
      if (!chosen.has_value()) {
        const bool lacks = backends_.supply != nullptr && more_may_help(chosen.error());
        std::unexpected<cni::Failure> failed = in(one, cni::failure_of(chosen.error()));
        if (!lacks || !need_of(one.addresses).has_value()) return failed;
        return Reserved(Lacking{.interface = i, .failure = std::move(failed.error())});
      }
      addresses_[i] = *std::move(chosen);
    }
    return Reserved();
  }

  Result<Addresses> choose_addresses_of(Engine::Turn& turn, HostLocal::Locks& locks, SandboxInterface& one) {
    if (wanted_.planned) one.addresses.planned = TRY(wanted_.planned(turn, one.addresses.owner.interface));
    return begin_addresses(turn, backends_.host_local, locks, one.addresses);
  }

  Outcome<void> attach() {
    Engine::Turn& turn = *TRY_CNI(held_.get());
    PhaseTimer timer(backends_, request_.type, Phase::kKernel);
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
      if (one.device.has_value()) backends_.tell(one.network, fmt::format("{}", one.device->address));
    }
    if (std::ranges::none_of(addresses_, &Addresses::dhcp))
      pod_.conclude = [this](const attach::PodReport& report) { return conclude_with(report); };
    Result<attach::PodReport> report = attach::attach_pod(turn.kernel(), turn.store(), pod_, held_.wait_policy());
    if (!report.has_value() && not_concluded_.has_value()) {
      if (!report.error().hint.empty()) add_detail(*not_concluded_, report.error().hint);
      return std::unexpected(*std::exchange(not_concluded_, std::nullopt));
    }
    if (!report.has_value()) return std::unexpected(cni::failure_of(report.error()));
    for (const attach::InterfaceResult& one : report->interfaces)
      backends_.tell(one.network, one.device.has_value() ? fmt::format("{}", *one.device) : "");
    is_concluded_ = static_cast<bool>(pod_.conclude);
    if (!is_concluded_) take_results(*report);
    return {};
  }

  void take_results(const attach::PodReport& report) {
    attached_.clear();
    for (const attach::InterfaceResult& one : report.interfaces) attached_.push_back({one, {}});
  }

  // In the transaction of attach_pod().
  Result<void> conclude_with(const attach::PodReport& report) {
    take_results(report);
    Outcome<void> done = write_last(Last::kYes);
    if (done.has_value()) return {};
    not_concluded_ = std::move(done.error());
    return fail(Code::kIo, "{}", not_concluded_->message);
  }

  // --- outside of a turn, once the interfaces are there

  Outcome<void> lease(size_t i) {
    PhaseTimer timer(backends_, request_.type, Phase::kLease);
    const AddressRequest& request = interfaces_[i].addresses;
    addresses_[i].result = TRY_CNI(backends_.dhcp.acquire({.owner = request.owner,
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

  enum class Last : bool { kNo, kYes };

  Outcome<void> conclude(Last last) {
    Engine::Turn& turn = *TRY_CNI(held_.get());
    auto transaction = TRY_CNI(state::Transaction::begin(turn.store()));
    TRY_CNI(write_last(last));
    TRY_CNI(transaction.commit());
    programs_.clear();
    return {};
  }

  Outcome<void> write_last(Last last) {
    Engine::Turn& turn = *TRY_CNI(held_.get());
    for (const state::Attachment& record : programs_) TRY_CNI(turn.store().put_attachment(record));
    TRY_CNI(remember_pod(turn.store(), sandbox_, request_.netns));
    if (last == Last::kYes) {
      for (size_t i = 0; i < attached_.size(); ++i) attached_[i].answer = answer_of(i);
      if (wanted_.conclude) TRY_CNI(wanted_.conclude(turn, attached_));
    }
    return {};
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
  void take_away() {
    HeldTurn turn(backends_.engine);
    InterfacesToGiveBack gone{.key = key_, .records = {}, .owners = owners_};
    for (const attach::InterfaceRequest& one : pod_.interfaces)
      gone.records.insert(gone.records.begin(), one.record_name());
    (void)give_back_interfaces(backends_, turn, gone);
    if (Result<Engine::Turn*> held = turn.get(); held.has_value()) (void)forget_pod_if_empty((*held)->store(), key_);
  }

  Backends& backends_;
  SandboxAttachment& wanted_;
  const cni::Request& request_;
  state::Sandbox sandbox_;
  std::string key_;
  HeldTurn held_;
  std::vector<SandboxInterface>& interfaces_;
  std::vector<ipam::Owner> owners_;            // of their addresses
  std::vector<Addresses> addresses_;           // by interface
  attach::PodRequest pod_;                     // as attach was asked
  std::vector<AttachedInterface> attached_;    // by interface, once they are made
  bool is_concluded_ = false;                  // the last records are written
  std::optional<cni::Failure> not_concluded_;  // why they could not be, while attach_pod() undoes the rest
  std::vector<state::Attachment> programs_;    // of IPAM plugins that were executed
};

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
      turn_.end();  // a server is told, from the pod's namespace
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
    if (!done.has_value()) failures_.push_back({interface, cni::failure_of(done.error())});
  }

  void detach(Engine::Turn& turn) {
    auto records = turn.store().attachments_of(gone_.key);
    if (!records.has_value()) return note(std::move(records), "");
    for (const state::Attachment& one : *records)
      if (std::ranges::find(gone_.records, one.interface) != gone_.records.end())
        backends_.tell(one.network, one.device);
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

Outcome<void> ask_program(Engine& engine, const state::Attachment& record) {
  constexpr cni::Version kCheckSince{0, 4, 0};
  auto version = cni::parse_version(TRY_CNI(version_of(record)));
  if (!version.has_value() || *version < kCheckSince) return {};
  return execute(engine.running_plugins(), TRY_CNI(execution_of(record, cni::Command::kCheck)));
}

}  // namespace

Outcome<std::vector<AttachedInterface>> attach_interfaces(Backends& backends, SandboxAttachment wanted) {
  return InterfaceAttacher(backends, wanted).run();
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

Outcome<size_t> check_interfaces(Backends& backends, const cni::Request& request, const CheckScope& scope) {
  size_t count = 0;
  std::vector<state::Attachment> programs;
  {
    auto one_at_a_time = backends.engine.container(request.container_id);
    Engine::Turn turn = TRY_CNI(backends.engine.turn(kTurnWait));
    const os::Deadline deadline = turn.kernel().clock().now() + kAttachTime;
    for (const std::string& key : TRY_CNI(keys_of_container(turn.store(), request))) {
      std::vector<std::string> names;
      if (!scope.record.empty()) names.push_back(scope.record);
      for (state::Attachment& record : TRY_CNI(turn.store().attachments_of(key))) {
        ++count;
        if (is_of_program(record)) {
          if (scope.record.empty() || is_foreign_ipam(record, scope.program_of)) programs.push_back(std::move(record));
        } else if (scope.record.empty()) {
          names.push_back(record.interface);
        }
      }
      for (const std::string& name : names)
        TRY_CNI(attach::check_interface(turn.kernel(), turn.store(), key, name, deadline));
    }
  }
  for (const state::Attachment& record : programs) TRY_CNI(ask_program(backends.engine, record));
  return count;
}

}  // namespace railbed::agent
