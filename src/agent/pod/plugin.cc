// SPDX-License-Identifier: Apache-2.0
// One plugin that makes or changes an interface, as a runtime calls it: sriov, macvlan, tuning, …
#include <algorithm>

#include "agent/addresses/addresses.h"
#include "agent/addresses/dhcp.h"
#include "agent/addresses/foreign_ipam.h"
#include "agent/door/metrics.h"
#include "agent/door/service.h"
#include "agent/failures.h"
#include "agent/leftovers/adopt.h"
#include "agent/pod/meta.h"
#include "agent/pod/records.h"
#include "agent/pod/selection.h"
#include "attach/attach.h"
#include "attach/types.h"

namespace railbed::agent {
namespace {

using cni::Outcome;

constexpr std::chrono::seconds kWorkTime{60};
constexpr cni::Version kGcAndStatusSince{1, 1, 0};

class PluginRequest {
 public:
  PluginRequest(Parts& parts, const cni::Request& request, const cni::PluginConfig& config, bool chained)
      : parts_(parts), request_(request), config_(config), chained_(chained) {}

  Outcome<std::string> add() {
    if (chained_ && !config_.previous.has_value())
      return std::unexpected(
          cni::Failure{.code = cni::kInvalidConfig,
                       .message = fmt::format("network {}: plugin {} changes an interface and needs prevResult",
                                              config_.network, config_.type),
                       .details = "put it behind the plugin that makes the interface"});
    std::optional<std::string> foreign = own_foreign_ipam();
    if (!foreign.has_value()) return make(nullptr);
    auto lock = ipam_lock(parts_.engine, request_.container_id);
    const std::string key = sandbox_of(request_).key();
    ForeignAddresses given = TRY_CNI(ask_foreign(key, *foreign));
    Outcome<std::string> answer = make(&given);
    if (answer.has_value()) return answer;
    if (auto undone = undo_foreign_ipam(parts_.engine, key, request_.ifname); !undone.has_value())
      answer.error().details += fmt::format("{}its addresses could not be given back: {}",
                                            answer.error().details.empty() ? "" : "; ", undone.error().message);
    return answer;
  }

  Outcome<std::string> del() {
    auto lock = ipam_lock(parts_.engine, request_.container_id);
    GivenBack gone = TRY_CNI(give_back_all());
    for (const std::string& key : gone.executed) TRY_CNI(release_foreign_ipam(parts_.engine, key, request_.ifname));
    std::optional<std::string> foreign = own_foreign_ipam();
    if (!gone.known && foreign.has_value())
      TRY_CNI(execute(parts_.engine.kernel(), foreign_call(cni::Command::kDel, *foreign)));
    return "";
  }

  Outcome<std::string> check() {
    auto lock = ipam_lock(parts_.engine, request_.container_id);
    std::vector<std::string> keys;
    {
      auto one_at_a_time = parts_.engine.container(request_.container_id);
      Engine::Turn turn = TRY_CNI(parts_.engine.turn(kTurnWait));
      keys = TRY_CNI(keys_of_container(turn.store(), request_));
      for (const std::string& key : keys)
        TRY_CNI(attach::check_interface(turn.kernel(), turn.store(), key, record_name(), deadline()));
    }
    if (!chained_)
      for (const std::string& key : keys) TRY_CNI(check_foreign_ipam(parts_.engine, key, request_.ifname));
    return "";
  }

  // What this plugin made for this network and the runtime no longer knows of.
  Outcome<std::string> gc() {
    TRY_CNI(cni::require_valid_attachments(config_));
    std::vector<state::Attachment> records;
    {
      Engine::Turn turn = TRY_CNI(parts_.engine.turn(kTurnWait));
      records = TRY_CNI(turn.store().attachments());
    }
    Failures failures;
    for (const state::Attachment& record : records) {
      state::Sandbox sandbox = state::Sandbox::of_key(record.pod);
      std::string ifname = record.interface.substr(0, record.interface.find('/'));
      if (sandbox.container.empty() || record.type != config_.type || record.network != config_.network) continue;
      cni::AttachmentId id{sandbox.container, ifname};
      if (std::ranges::find(config_.valid, id) != config_.valid.end()) continue;
      cni::Request one = request_;
      one.container_id = sandbox.container;
      one.ifname = ifname;
      Outcome<std::string> gone = PluginRequest(parts_, one, config_, chained_).del();
      if (!gone.has_value()) failures.add("", std::move(gone.error()));
    }
    if (std::optional<std::string> foreign = executed_since_1_1())
      if (auto done = execute(parts_.engine.kernel(), foreign_call(cni::Command::kGc, *foreign)); !done)
        failures.add("", std::move(done.error()));
    TRY_CNI(failures.outcome());
    return "";
  }

  // Ours can always be asked; an IPAM type that is executed speaks for itself.
  Outcome<std::string> status() {
    std::optional<std::string> foreign = executed_since_1_1();
    if (!foreign.has_value()) return "";
    os::Kernel& kernel = parts_.engine.kernel();
    TRY_CNI(parts_.meta.statuses().answer(
        kernel.clock(), config_.type + "\n" + request_.config,
        [&kernel, call = foreign_call(cni::Command::kStatus, *foreign)] { return execute(kernel, call); }));
    return "";
  }

 private:
  struct Made {
    attach::InterfaceResult interface;
    Addresses addresses;
  };

  // --- an IPAM type that is not ours

  std::optional<std::string> own_foreign_ipam() const { return chained_ ? std::nullopt : foreign_ipam(config_.object); }

  // For GC and STATUS, which plugins of older versions do not know.
  std::optional<std::string> executed_since_1_1() const {
    return config_.version < kGcAndStatusSince ? std::nullopt : own_foreign_ipam();
  }

  Execution foreign_call(cni::Command command, const std::string& type) const {
    return {.command = command,
            .type = type,
            .container_id = request_.container_id,
            .netns = request_.netns,
            .ifname = request_.ifname,
            .args = request_.args_text,
            .path = request_.path,
            .config = request_.config};
  }

  Outcome<ForeignAddresses> ask_foreign(const std::string& key, const std::string& type) {
    PhaseTimer timer(parts_.metrics, request_.type, Phase::kExec);
    return acquire_foreign(parts_.engine, {.key = key,
                                           .network = config_.network,
                                           .call = foreign_call(cni::Command::kAdd, type),
                                           .version = config_.version.to_string()});
  }

  // --- ADD

  // `given`: the addresses of an IPAM plugin that was executed.
  Outcome<std::string> make(const ForeignAddresses* given) {
    auto lock = parts_.engine.container(request_.container_id);
    const state::Sandbox sandbox = sandbox_of(request_);
    attach::PodWanted wanted{.pod = sandbox.key(), .netns_path = request_.netns, .others_stay = true};
    {
      PhaseTimer timer(parts_.metrics, request_.type, Phase::kPrepare);
      wanted.interfaces.push_back(TRY_CNI(interface_wanted(given)));
    }
    Made made = TRY_CNI(attach(wanted, sandbox, given));
    if (made.addresses.dhcp) {
      Outcome<void> leased = lease(sandbox.key(), made);
      if (!leased.has_value()) {
        take_away(sandbox.key());
        return std::unexpected(std::move(leased.error()));
      }
    }
    cni::AddResult answer = chained_ ? merged(*config_.previous, made.interface, request_.ifname)
                                     : result_of(made.interface, request_.netns, made.addresses.result);
    if (!chained_) prefer_own_dns(answer, config_.object);
    return cni::to_json(answer, config_.version);
  }

  std::string record_name() const { return chained_ ? request_.ifname + "/" + config_.type : request_.ifname; }
  os::Deadline deadline() const { return parts_.engine.kernel().clock().now() + kWorkTime; }

  Result<Engine::Turn> waited_turn() {
    PhaseTimer timer(parts_.metrics, request_.type, Phase::kWait);
    return parts_.engine.turn(kTurnWait);
  }

  Outcome<attach::InterfaceWanted> interface_wanted(const ForeignAddresses* given) {
    attach::InterfaceWanted wanted{.name = TRY_CNI(IfName::parse(request_.ifname)), .network = config_.network};
    wanted.config = {.cni_version = config_.version.to_string(),
                     .name = config_.network,
                     .plugins = {{config_.type, config_.object}}};
    doc::Value& plugin = wanted.config.plugins.front().config;
    if (given != nullptr)
      plugin.set("ipam", given->block);
    else if (const doc::Value* ipam = plugin.find("ipam"))
      plugin.set("ipam", with_asked_ranges(*ipam, config_.runtime));
    wanted.selection = TRY_CNI(selection_of(request_, config_));
    wanted.chained = chained_;
    wanted.previous = config_.previous;
    return wanted;
  }

  Result<attach::PodReport> attach_now(Engine::Turn& turn, const attach::PodWanted& wanted) {
    PhaseTimer timer(parts_.metrics, request_.type, Phase::kKernel);
    return attach::attach_pod(turn.kernel(), turn.store(), wanted, deadline());
  }

  Outcome<Made> attach(attach::PodWanted& wanted, const state::Sandbox& sandbox, const ForeignAddresses* given) {
    Engine::Turn turn = TRY_CNI(waited_turn());
    Made made;
    const ipam::Owner owner{sandbox.key(), request_.ifname};
    if (given != nullptr) {
      made.addresses = given->addresses;
      wanted.interfaces.front().addresses = made.addresses.assigned;
    } else if (!chained_) {
      PhaseTimer timer(parts_.metrics, request_.type, Phase::kAddresses);
      made.addresses = TRY_CNI(addresses_for(turn, parts_.host_local, address_request(request_, config_, owner)));
      wanted.interfaces.front().addresses = made.addresses.assigned;
    }
    Result<attach::PodReport> report = attach_now(turn, wanted);
    Result<void> remembered;
    if (report.has_value()) remembered = remember_pod(turn.store(), sandbox, request_.netns);
    if (given != nullptr && report.has_value() && remembered.has_value())
      remembered = turn.store().put_attachment(given->record);
    if (!report.has_value() || !remembered.has_value()) {
      cni::Failure why = cni::failure_of(report.has_value() ? remembered.error() : report.error());
      if (Result<void> freed = release_addresses(turn, parts_.host_local, {owner}); !freed.has_value())
        why.details += fmt::format("{}its addresses could not be given back: {}", why.details.empty() ? "" : "; ",
                                   freed.error().story());
      return std::unexpected(std::move(why));
    }
    made.interface = std::move(report->interfaces.front());
    return made;
  }

  // The interface is there and up; what the server says is put on it, and into its record.
  Outcome<void> lease(const std::string& key, Made& made) {
    const doc::Value* ipam = config_.object.find("ipam");
    made.addresses.result = TRY_CNI(leased({.owner = {key, request_.ifname},
                                            .container_id = request_.container_id,
                                            .network = config_.network,
                                            .netns_path = request_.netns,
                                            .ipam = ipam == nullptr ? doc::Value() : *ipam,
                                            .cni_args = request_.args}));
    Engine::Turn turn = TRY_CNI(parts_.engine.turn(kTurnWait));
    TRY_CNI(add_addresses(turn, key, request_.ifname, request_.netns, made.addresses.result, made.interface));
    return {};
  }

  Result<cni::AddResult> leased(const Dhcp::Request& wanted) {
    PhaseTimer timer(parts_.metrics, request_.type, Phase::kLease);
    return parts_.dhcp.acquire(wanted, deadline());
  }

  // After a failure behind the attachment; what stays is in the records.
  void take_away(const std::string& key) { [[maybe_unused]] auto undone = give_back(key); }

  struct GivenBack {
    bool known = false;                 // there was a record
    std::vector<std::string> executed;  // whose IPAM plugin has to be executed
  };

  // All that is recorded of the interface, under whichever pod, in one turn: DEL of 200 pods at once waits
  // for 200 turns, not for 600.
  Outcome<GivenBack> give_back_all() {
    auto lock = parts_.engine.container(request_.container_id);
    std::optional<Engine::Turn> turn;
    turn.emplace(TRY_CNI(parts_.engine.turn(kTurnWait)));
    const std::vector<std::string> keys = TRY_CNI(keys_of_container(turn->store(), request_));
    const auto is_leased = [&](const std::string& key) { return parts_.dhcp.has({key, request_.ifname}); };
    if (!chained_ && std::ranges::any_of(keys, is_leased)) {
      turn.reset();  // a server is told, from the pod's namespace
      for (const std::string& key : keys) TRY_CNI(parts_.dhcp.release({key, request_.ifname}));
      turn.emplace(TRY_CNI(parts_.engine.turn(kTurnWait)));
    }
    GivenBack gone;
    for (const std::string& key : keys) {
      for (const state::Attachment& one : TRY_CNI(turn->store().attachments_of(key))) {
        const bool executed = !chained_ && is_foreign_ipam(one, request_.ifname);
        if (executed) gone.executed.push_back(key);
        gone.known = gone.known || executed || one.interface == record_name();
      }
      TRY_CNI(give_back_in(*turn, key));
    }
    if (!gone.known) TRY_CNI(give_back_foreign(*turn));
    return gone;
  }

  Outcome<void> give_back(const std::string& key) {
    if (!chained_) TRY_CNI(parts_.dhcp.release({key, request_.ifname}));
    Engine::Turn turn = TRY_CNI(parts_.engine.turn(kTurnWait));
    return give_back_in(turn, key);
  }

  Outcome<void> give_back_in(Engine::Turn& turn, const std::string& key) {
    TRY_CNI(attach::detach_interface(turn.kernel(), turn.store(), key, record_name(), deadline()));
    if (!chained_) TRY_CNI(release_addresses(turn, parts_.host_local, {{key, request_.ifname}}));
    TRY_CNI(forget_pod_if_empty(turn.store(), key));
    return {};
  }

  // Attached by the original plugin, before this machine was switched over; or never.
  Outcome<void> give_back_foreign(Engine::Turn& turn) {
    IfName name = TRY_CNI(IfName::parse(request_.ifname));
    TRY_CNI(attach::detach_foreign(turn.kernel(),
                                   {.type = config_.type,
                                    .container_id = request_.container_id,
                                    .name = std::move(name),
                                    .netns_path = request_.netns,
                                    .config = config_.object,
                                    .previous = config_.previous},
                                   deadline(), &turn.store()));
    if (chained_) return {};
    TRY_CNI(release_adopted(turn, {request_.container_id, request_.pod(), request_.ifname}));
    if (auto place = host_local_place(config_))
      TRY_CNI(parts_.host_local.release_foreign(turn, place->data_dir, config_.network, request_.container_id,
                                                request_.ifname));
    return {};
  }

  Parts& parts_;
  const cni::Request& request_;
  const cni::PluginConfig& config_;
  bool chained_;
};

}  // namespace

Outcome<std::string> plugin_request(Parts& parts, const cni::Request& request, const cni::PluginConfig& config) {
  const attach::PluginType* type = TRY_CNI(attach::plugin_type(request.type, config.network));
  if (config.type != request.type)
    return std::unexpected(cni::Failure{
        .code = cni::kInvalidConfig,
        .message = fmt::format("called as {}, the configuration is for \"{}\"", request.type, config.type)});
  PluginRequest work(parts, request, config, type->chained());
  switch (request.command) {
    case cni::Command::kAdd:
      return work.add();
    case cni::Command::kDel:
      return work.del();
    case cni::Command::kCheck:
      return work.check();
    case cni::Command::kGc:
      return work.gc();
    case cni::Command::kStatus:
      return work.status();
    case cni::Command::kVersion:
      return "";
  }
  return "";
}

}  // namespace railbed::agent
