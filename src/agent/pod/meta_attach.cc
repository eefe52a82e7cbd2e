// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/meta_attach.h"

#include <algorithm>

#include "agent/pod/interfaces.h"
#include "agent/pod/meta_devices.h"
#include "agent/pod/meta_give_back.h"
#include "agent/pod/network_status.h"
#include "agent/pod/plugin_chain.h"
#include "agent/records/exec_records.h"
#include "agent/records/meta_records.h"
#include "agent/records/records.h"

namespace railbed::agent {
namespace {

using doc::Value;

std::string title_of(const Delegate& network) {
  return fmt::format("{} ({})", network.name, network.ifname);
}

class SandboxAttacher {
 public:
  SandboxAttacher(Backends& backends, Meta& meta, MetaAdd& add)
      : backends_(backends),
        meta_(meta),
        add_(add),
        networks_(add.pod.networks),
        place_{.request = add.request,
               .key = sandbox_of(add.request).key(),
               .path = program_path(add.meta_config, add.request),
               .sandbox = {.network = add.config.network, .ifname = add.request.ifname, .pod_uid = add.pod.pod.uid}},
        devices_(meta, place_.key, add.pod),
        results_(networks_.size()),
        device_infos_(networks_.size()) {}

  Result<cni::AddResult> run() {
    devices_.ask();
    TRY(begin());
    for (size_t i = 0; i < networks_.size(); ++i) {
      if (networks_[i].native()) continue;
      ChainDone done = TRY(run_chain(backends_, place_, networks_[i]).context("network {}", title_of(networks_[i])));
      results_[i] = std::move(done.result);
      std::ranges::move(done.records, std::back_inserter(programs_));
    }
    TRY(attach_native());
    if (!networks_.empty() && networks_.front().is_default) return results_.front();
    return cni::AddResult{};
  }

 private:
  // Records the sandbox with the files that are made for it, and chooses the devices of executed plugins. Where nothing
  // is executed, that record comes with the first ones of the interfaces.
  Result<void> begin() {
    HeldTurn held(backends_.engine);
    Engine::Turn* turn = TRY(held.get());
    const std::vector<state::Attachment> records = TRY(turn->store().attachments_of(place_.key));
    if (std::ranges::any_of(records, is_of_program)) {  // of an ADD that never ended
      held.end();
      TRY(give_back_sandbox(backends_, meta_, place_.key));
      turn = TRY(held.get());
    }
    return begin(*turn);
  }

  Result<void> begin(Engine::Turn& turn) {
    bool foreign_device = std::ranges::any_of(
        networks_, [](const Delegate& network) { return !network.resource.empty() && !network.native(); });
    if (foreign_device) TRY(devices_.choose(turn));
    SandboxNote note{.key = place_.key,
                     .network = add_.config.network,
                     .ifname = add_.request.ifname,
                     .netns = add_.request.netns,
                     .pod_uid = add_.pod.pod.uid};
    for (Delegate& network : networks_) {
      if (network.resource.empty()) continue;
      network.device_info_path = meta_.device_info().path(network.name, add_.request.container_id, network.ifname);
      note.device_info.push_back(network.device_info_path);
    }
    if (!networks_.empty() && std::ranges::all_of(networks_, &Delegate::native)) {
      note_ = std::move(note);
      return {};
    }
    TRY(put_sandbox_note(turn.store(), note));
    if (!foreign_device) return {};
    return devices_.describe();
  }

  // --- networks that are ours, all together

  Result<void> attach_native() {
    SandboxAttachment wanted{.request = add_.request,
                             .interfaces = {},
                             .soft_rdma = meta_.pods().soft_rdma(),
                             // For a pod from manifests, `up` passes all interfaces that it has.
                             .others_stay = !state::Sandbox::of_key(place_.key).container.empty(),
                             .after_failure = AfterFailure::kToCaller};
    bool needs_device = false;
    for (size_t i = 0; i < networks_.size(); ++i) {
      if (!networks_[i].native()) continue;
      native_.push_back(i);
      needs_device = needs_device || !networks_[i].resource.empty() || networks_[i].selection.device_id.present;
      wanted.interfaces.push_back(TRY(interface_of(networks_[i]).context("network {}", title_of(networks_[i]))));
    }
    wanted.note = note_;
    if (needs_device)
      wanted.choose_devices = [this](Engine::Turn& turn, auto& all) { return choose_devices(turn, all); };
    if (add_.pod.known) wanted.reserved.emplace(meta_.reservations(), meta_.pods(), add_.pod.pod.key());
    InterfaceTransaction attaching(backends_, std::move(wanted));
    const std::vector<AttachedInterface> made = TRY(attaching.bring());
    if (Result<void> put = put_last_records(attaching.turn(), made); !put.has_value())
      return fail(attaching.roll_back(std::move(put.error())));
    return attaching.commit();
  }

  Result<SandboxInterface> interface_of(const Delegate& network) const {
    SandboxInterface one{.interface = {.name = TRY(IfName::parse(network.ifname)),
                                       .network = network.name,
                                       .resource = network.resource},
                         .addresses = {.network = network.list.name,
                                       .cni_args = add_.request.args,
                                       .owner = {place_.key, network.ifname}},
                         .dropped = network.dropped,
                         .title = title_of(network)};
    one.interface.config = {.cni_version = network.list.version, .name = network.list.name, .plugins = {}};
    for (const Value& plugin : network.list.plugins) one.interface.config.plugins.push_back({type_of(plugin), plugin});
    const Value* ipam = network.list.plugins.front().find("ipam");
    if (ipam != nullptr && ipam->is_object()) one.addresses.ipam = *ipam;
    if (network.selection.cni_args.present) one.addresses.args = network.selection.cni_args.value;
    if (std::optional<std::string> type = foreign_ipam(network.list.plugins.front()))
      one.program = ForeignIpam{.key = place_.key,
                                .network = network.name,
                                .call = chain_execution(place_, network, 0, *type, std::nullopt),
                                .version = network.list.version,
                                .sandbox = place_.sandbox};
    give_device(network, one);
    return one;
  }

  // What depends on the device that the network has been given.
  static void give_device(const Delegate& network, SandboxInterface& one) {
    one.interface.selection = network.selection;
    if (network.device.has_value()) one.interface.device = network.device->vf;
    one.addresses.runtime = Value::object();
    for (const auto& [capability, value] : network.capability_args) one.addresses.runtime.set(capability, value);
  }

  Result<void> choose_devices(Engine::Turn& turn, std::vector<SandboxInterface>& interfaces) {
    TRY(devices_.choose(turn));
    TRY(devices_.describe());
    for (size_t i = 0; i < native_.size(); ++i) give_device(networks_[native_[i]], interfaces[i]);
    return {};
  }

  // --- the end

  Result<void> put_last_records(Engine::Turn& turn, const std::vector<AttachedInterface>& made) {
    for (size_t i = 0; i < native_.size(); ++i) {
      results_[native_[i]] = made[i].answer;
      if (devices_.info_of(networks_[native_[i]]).is_null())
        device_infos_[native_[i]] = DeviceInfo::of(made[i].interface);
    }
    for (const state::Attachment& record : programs_) TRY(turn.store().put_attachment(record));
    if (add_.pod.wants_status()) TRY(meta_.pods().publish_status(add_.pod.pod, place_.key, status()));
    return {};
  }

  Value status() {
    std::vector<NetworkStatus> networks;
    for (size_t i = 0; i < networks_.size(); ++i) {
      Value info = devices_.info_of(networks_[i]);
      networks.push_back({.name = networks_[i].name,
                          .is_default = networks_[i].is_default,
                          .result = results_[i],
                          .device_info = info.is_null() ? device_infos_[i] : std::move(info)});
    }
    return to_value(networks);
  }

  Backends& backends_;
  Meta& meta_;
  MetaAdd& add_;
  std::vector<Delegate>& networks_;
  ChainPlace place_;
  SandboxDevices devices_;
  std::optional<SandboxNote> note_;          // where it is still to be written
  std::vector<size_t> native_;               // which of the networks are ours
  std::vector<cni::AddResult> results_;      // by network
  std::vector<Value> device_infos_;          // by network: what we know ourselves
  std::vector<state::Attachment> programs_;  // of chains that have ended
};

}  // namespace

Result<cni::AddResult> attach_sandbox(Backends& backends, Meta& meta, MetaAdd add) {
  return SandboxAttacher(backends, meta, add).run();
}

}  // namespace railbed::agent
