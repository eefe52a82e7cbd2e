// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/plugin.h"

#include <algorithm>
#include <set>

#include "agent/addresses/addresses_in_use.h"
#include "agent/addresses/adopt.h"
#include "agent/addresses/foreign_ipam.h"
#include "agent/addresses/shared_ranges.h"
#include "agent/context/metrics.h"
#include "agent/failures.h"
#include "agent/pod/interfaces.h"
#include "agent/pod/meta.h"
#include "agent/pod/selection.h"
#include "agent/records/records.h"
#include "attach/types.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

constexpr cni::Version kGcAndStatusSince{1, 1, 0};

class PluginRequest {
 public:
  PluginRequest(Backends& backends, const cni::Request& request, const cni::PluginConfig& config, bool chained)
      : backends_(backends), request_(request), config_(config), chained_(chained) {}

  Result<std::string> add() {
    if (chained_ && !config_.previous.has_value())
      return cni::fail_with(cni::kInvalidConfig,
                            fmt::format("network {}: plugin {} changes an interface and requires prevResult",
                                        config_.network, config_.type),
                            "list it after the plugin that creates the interface");
    SandboxAttachment wanted{.request = request_, .interfaces = {}};
    {
      PhaseTimer timer(backends_, request_.type, Phase::kPrepare);
      wanted.interfaces.push_back(TRY(interface()));
    }
    InterfaceTransaction attaching(backends_, std::move(wanted));
    const std::vector<AttachedInterface> made = TRY(attaching.bring());
    TRY(attaching.commit());
    return cni::to_json(made.front().answer, config_.version);
  }

  Result<std::string> del() {
    auto lock = ipam_lock(backends_.engine, request_.container_id);
    GivenBack gone = TRY(give_back_all());
    for (const std::string& key : gone.programs) TRY(release_foreign_ipam(backends_.engine, key, request_.ifname));
    std::optional<std::string> foreign = own_foreign_ipam();
    if (!gone.known && foreign.has_value())
      TRY(execute(backends_.engine.running_plugins(), foreign_call(cni::Command::kDel, *foreign)));
    return "";
  }

  Result<std::string> check() {
    auto lock = ipam_lock(backends_.engine, request_.container_id);
    TRY(check_interfaces(backends_, request_,
                         {.record = record_name(), .program_of = chained_ ? "" : request_.ifname}));
    return "";
  }

  // Removes what this plugin made for this network and the runtime no longer knows.
  Result<std::string> gc() {
    TRY(cni::require_valid_attachments(config_));
    std::vector<state::Attachment> records;
    {
      Engine::Turn turn = TRY(backends_.engine.turn(kTurnWait));
      records = TRY(turn.store().attachments());
    }
    Failures failures;
    std::set<cni::AttachmentId> stale;
    for (const state::Attachment& record : records) {
      std::optional<std::string> ifname = interface_of(record, records);
      state::Sandbox sandbox = state::Sandbox::of_key(record.pod);
      if (sandbox.container.empty() || !ifname.has_value() || record.network != config_.network) continue;
      cni::AttachmentId id{sandbox.container, *std::move(ifname)};
      if (std::ranges::find(config_.valid, id) == config_.valid.end()) stale.insert(std::move(id));
    }
    for (const cni::AttachmentId& id : stale) {
      cni::Request one = request_;
      one.container_id = id.container_id;
      one.ifname = id.ifname;
      Result<std::string> gone = PluginRequest(backends_, one, config_, chained_).del();
      if (!gone.has_value()) failures.add("", std::move(gone.error()));
    }
    if (Result<void> done = gc_files(); !done.has_value()) failures.add("", done.error());
    if (std::optional<std::string> foreign = executed_since_1_1())
      if (auto done = execute(backends_.engine.running_plugins(), foreign_call(cni::Command::kGc, *foreign)); !done)
        failures.add("", std::move(done.error()));
    TRY(failures.outcome());
    return "";
  }

  // railbed's plugins are ready unless other nodes use the network's range; for a foreign IPAM type that program
  // answers.
  Result<std::string> status() {
    const doc::Value* ipam = chained_ ? nullptr : doc::object_in(config_.object, "ipam");
    TRY(ranges_ready(backends_.engine, ipam, config_.network));
    std::optional<std::string> foreign = executed_since_1_1();
    if (!foreign.has_value()) return "";
    TRY(backends_.statuses.answer(
        backends_.engine.kernel().clock(), config_.type + "\n" + request_.config,
        [&plugins = backends_.engine.running_plugins(), call = foreign_call(cni::Command::kStatus, *foreign)] {
          return execute(plugins, call);
        }));
    return "";
  }

 private:
  // --- GC

  // The interface of a record that this plugin's DEL gives back: of what it made, or of its executed IPAM plugin alone,
  // which is all there is after a reboot, and where an earlier DEL could not give the addresses back.
  std::optional<std::string> interface_of(const state::Attachment& record,
                                          const std::vector<state::Attachment>& all) const {
    if (record.type == config_.type) return record.interface.substr(0, record.interface.find('/'));
    const std::optional<std::string> foreign = own_foreign_ipam();
    if (!foreign.has_value() || record.type != fmt::format("{}{}", attach::kProgramPrefix, *foreign))
      return std::nullopt;
    std::optional<std::string> ifname = interface_of_foreign_ipam(record);
    const bool is_of_another =
        ifname.has_value() && std::ranges::any_of(all, [&](const state::Attachment& other) {
          return other.pod == record.pod && other.interface == *ifname && other.type != config_.type;
        });
    if (is_of_another) return std::nullopt;
    return ifname;
  }

  // host-local's files of which nothing is recorded, as after a reboot. Another plugin may share the network's name, so
  // those of containers that the runtime has stay.
  Result<void> gc_files() {
    const std::optional<HostLocalPlace> place = chained_ ? std::nullopt : host_local_place(config_);
    if (!place.has_value()) return {};
    Engine::Turn turn = TRY(backends_.engine.turn(kTurnWait));
    for (const HostLocal::Holder& one : TRY(backends_.host_local.holders(turn, place->data_dir, config_.network)))
      if (std::ranges::find(config_.valid, one.container_id, &cni::AttachmentId::container_id) == config_.valid.end())
        TRY(backends_.host_local.release_foreign(turn, place->data_dir, config_.network, one.container_id, one.ifname));
    return {};
  }

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

  // --- ADD

  std::string record_name() const { return chained_ ? request_.ifname + "/" + config_.type : request_.ifname; }

  Result<SandboxInterface> interface() const {
    const std::string key = sandbox_of(request_).key();
    SandboxInterface one{.interface = {.name = TRY(IfName::parse(request_.ifname)),
                                       .network = config_.network,
                                       .selection = TRY(selection_of(request_, config_)),
                                       .chained = chained_,
                                       .previous = config_.previous},
                         .addresses = address_request(request_, config_, {key, request_.ifname})};
    one.interface.config = {.cni_version = config_.version.to_string(),
                            .name = config_.network,
                            .plugins = {{config_.type, config_.object}}};
    if (std::optional<std::string> foreign = own_foreign_ipam())
      one.program = ForeignIpam{.key = key,
                                .network = config_.network,
                                .call = foreign_call(cni::Command::kAdd, *foreign),
                                .version = config_.version.to_string()};
    return one;
  }

  // --- DEL

  struct GivenBack {
    bool known = false;                 // there was a record
    std::vector<std::string> programs;  // of these sandboxes, the IPAM plugin has to be executed
  };

  // Detaches all records of the interface, for whatever pod, in one turn but for what the kernel takes long for.
  Result<GivenBack> give_back_all() {
    auto lock = backends_.engine.container(request_.container_id);
    HeldTurn held(backends_.engine);
    Engine::Turn* turn = TRY(held.get());
    GivenBack gone;
    Failures failures;
    for (const std::string& key : TRY(keys_of_container(turn->store(), request_))) {
      for (const state::Attachment& one : TRY(turn->store().attachments_of(key))) {
        const bool program = !chained_ && is_foreign_ipam(one, request_.ifname);
        if (program) gone.programs.push_back(key);
        gone.known = gone.known || program || one.interface == record_name();
      }
      InterfacesToGiveBack own{.key = key, .records = {record_name()}, .owners = {}};
      if (!chained_) own.owners.push_back({key, request_.ifname});
      for (NotGivenBack& one : give_back_interfaces(backends_, held, own)) failures.add("", std::move(one.why));
      turn = TRY(held.get());
      TRY(forget_pod_if_empty(turn->store(), key));
    }
    TRY(failures.outcome());
    if (!gone.known) TRY(give_back_foreign(held));
    return gone;
  }

  // Attached by the original plugin before this machine was switched over, or never.
  Result<void> give_back_foreign(HeldTurn& held) {
    Engine::Turn& turn = *TRY(held.get());
    IfName name = TRY(IfName::parse(request_.ifname));
    TRY(attach::detach_foreign(turn.kernel(),
                               {.type = config_.type,
                                .container_id = request_.container_id,
                                .name = std::move(name),
                                .netns_path = request_.netns,
                                .config = config_.object,
                                .previous = config_.previous},
                               held.wait_policy(), &turn.store()));
    if (chained_) return {};
    TRY(release_in_use(turn, request_.netns, request_.ifname));
    TRY(release_adopted(turn, {request_.container_id, request_.pod(), request_.ifname}));
    if (auto place = host_local_place(config_))
      TRY(backends_.host_local.release_foreign(turn, place->data_dir, config_.network, request_.container_id,
                                               request_.ifname));
    return {};
  }

  Backends& backends_;
  const cni::Request& request_;
  const cni::PluginConfig& config_;
  bool chained_;
};

}  // namespace

Result<std::string> plugin_request(Backends& backends, const cni::Request& request, const cni::PluginConfig& config) {
  const attach::PluginType* type = TRY(attach::plugin_type(request.type, config.network));
  if (config.type != request.type)
    return cni::fail_with(cni::kInvalidConfig,
                          fmt::format("called as {}, the configuration is for \"{}\"", request.type, config.type));
  PluginRequest work(backends, request, config, type->chained());
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
