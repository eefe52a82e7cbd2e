// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agent/addresses/addresses.h"
#include "agent/addresses/dhcp.h"
#include "agent/addresses/foreign_ipam.h"
#include "agent/door/metrics.h"
#include "agent/pod/exec_records.h"
#include "agent/pod/meta_records.h"
#include "agent/pod/meta_work.h"
#include "agent/pod/network_status.h"
#include "agent/pod/records.h"
#include "attach/attach.h"
#include "doc/members.h"
#include "node/resolved.h"

namespace railbed::agent {
namespace {

using cni::Outcome;
using doc::Value;

const Value* ipam_block(const NetworkWanted& network) {
  const Value* ipam = network.list.plugins.front().find("ipam");
  return ipam != nullptr && ipam->is_object() ? ipam : nullptr;
}

std::unexpected<cni::Failure> in_network(const NetworkWanted& network, cni::Failure why) {
  why.message = fmt::format("network {} ({}): {}", network.name, network.ifname, why.message);
  return std::unexpected(std::move(why));
}

bool is_dropped(const NetworkWanted& network, IpFamily family) {
  return family == IpFamily::kV4 ? network.drop_v4_default : network.drop_v6_default;
}

// Without the default routes that another network of the pod has.
void drop_default_routes(const NetworkWanted& network, cni::AddResult& result) {
  std::erase_if(result.routes, [&](const cni::Route& route) {
    return route.destination.length == 0 && is_dropped(network, route.destination.address.family);
  });
}

// What a native network's plan of addresses says, in CNI's words.
Result<cni::AddResult> planned_result(const NetworkWanted& network, const api::NetworkConfig& config,
                                      const std::vector<ipam::Assigned>& assigned) {
  cni::AddResult result;
  for (const ipam::Assigned& one : assigned) result.addresses.push_back({one.address, one.gateway, std::nullopt});
  api::IpamConfig ipam = TRY(attach::ipam_of(config, network.name));
  for (const api::IpamRoute& route : ipam.routes)
    result.routes.push_back(
        {route.destination, route.gateway, route.mtu, route.advmss, route.metric, route.table, route.scope});
  return result;
}

class SandboxAttacher {
 public:
  SandboxAttacher(Parts& parts, Meta& meta, const cni::Request& request, const cni::PluginConfig& config,
                  const MetaConfig& meta_config, PodWish& wish)
      : parts_(parts),
        meta_(meta),
        request_(request),
        config_(config),
        wish_(wish),
        sandbox_(sandbox_of(request)),
        key_(sandbox_.key()),
        path_(program_path(meta_config, request)),
        results_(wish.networks.size()),
        device_infos_(wish.networks.size()) {}

  Outcome<cni::AddResult> run() {
    TRY_CNI(begin());
    for (size_t i = 0; i < wish_.networks.size(); ++i) {
      NetworkWanted& network = wish_.networks[i];
      if (network.native()) continue;
      Outcome<void> done = run_chain(network, results_[i]);
      if (!done.has_value()) return in_network(network, std::move(done.error()));
    }
    TRY_CNI(attach_native());
    if (!wish_.networks.empty() && wish_.networks.front().is_default) return results_.front();
    return cni::AddResult{};
  }

 private:
  os::Deadline deadline() const { return parts_.engine.kernel().clock().now() + kMetaWorkTime; }

  // The sandbox is known from here on, with the files that are made for it; devices of executed plugins are
  // chosen.
  Outcome<void> begin() {
    Engine::Turn turn = TRY_CNI(parts_.engine.turn(kTurnWait));
    bool foreign_device = std::ranges::any_of(
        wish_.networks, [](const NetworkWanted& network) { return !network.resource.empty() && !network.native(); });
    if (foreign_device) TRY_CNI(choose_devices(turn));
    SandboxNote note{.key = key_,
                     .network = config_.network,
                     .ifname = request_.ifname,
                     .netns = request_.netns,
                     .pod_uid = wish_.pod.uid};
    for (NetworkWanted& network : wish_.networks) {
      if (network.resource.empty()) continue;
      network.device_info_path = meta_.device_info().path(network.name, request_.container_id, network.ifname);
      note.device_info.push_back(network.device_info_path);
    }
    TRY_CNI(put_sandbox_note(turn.store(), note));
    if (!foreign_device) return {};
    return tell_devices();
  }

  // --- devices

  // Those of the pod are free for it: an ADD that is asked again gets the same.
  Outcome<void> choose_devices(Engine::Turn& turn) {
    plan::InUse in_use = TRY_CNI(node::in_use_by(turn.store()));
    std::erase_if(in_use, [&](const auto& one) { return one.second == key_; });
    for (auto& [device, holder] : in_use)
      if (std::string pod = state::Sandbox::of_key(holder).pod; !pod.empty()) holder = pod;
    std::map<std::string, std::vector<NetworkWanted*>> references;
    for (NetworkWanted& network : wish_.networks) {
      if (network.selection.device_id.present)
        network.set_device({*network.selection.device_id, std::nullopt});
      else if (!network.resource.empty())
        references[network.resource].push_back(&network);
    }
    for (auto& [resource, networks] : references) {
      std::vector<Device> devices = TRY_CNI(devices_of(resource, networks.size(), in_use));
      for (size_t i = 0; i < networks.size(); ++i)
        // One that an executed plugin was given before stays with it.
        if (!networks[i]->device.has_value() || networks[i]->native()) networks[i]->set_device(devices[i]);
    }
    return {};
  }

  Outcome<std::vector<Device>> devices_of(const std::string& resource, size_t count, const plan::InUse& in_use) {
    std::string unknown;
    for (DeviceSource* source : meta_.devices()) {
      Result<std::vector<Device>> devices = source->devices(wish_.pod, resource, count, in_use);
      if (devices.has_value()) return *std::move(devices);
      if (devices.error().code != Code::kNotFound) return std::unexpected(cni::failure_of(devices.error()));
      unknown += (unknown.empty() ? "" : "; ") + devices.error().story();
    }
    return std::unexpected(
        cni::Failure{cni::kExhausted, fmt::format("pod {} has no device of {}: {}", wish_.pod.key(), resource, unknown),
                     "ask for it in the pod's resources, or have a policy make VFs of it"});
  }

  Outcome<void> tell_devices() {
    for (NetworkWanted& network : wish_.networks) {
      if (!network.device.has_value() || network.device_info_path.empty()) continue;
      TRY_CNI(meta_.device_info().copy(network.resource, network.device->id, network.device_info_path));
      network.capability_args["CNIDeviceInfoFile"] = network.device_info_path;
    }
    return {};
  }

  Value device_info_of(const NetworkWanted& network) {
    return network.device_info_path.empty() ? Value() : meta_.device_info().read(network.device_info_path);
  }

  // --- chains with executed plugins

  Outcome<void> run_chain(NetworkWanted& network, cni::AddResult& result) {
    std::optional<cni::AddResult> previous;
    std::vector<state::Attachment> records;
    const bool all_foreign =
        std::ranges::none_of(network.list.plugins, [](const Value& one) { return is_native(text_in(one, "type")); });
    for (size_t i = 0; i < network.list.plugins.size(); ++i) {
      std::string type = text_in(network.list.plugins[i], "type");
      if (is_native(type)) {
        previous = TRY_CNI(add_native_link(network, i, type, previous));
        continue;
      }
      Execution execution = execution_for(network, i, type, std::nullopt);
      // What cannot be run has nothing to undo: no record.
      TRY_CNI(find_plugin(parts_.engine.kernel(), type, execution.path));
      state::Attachment record = program_record(key_, network.name, i, execution, network.list.version);
      record.resource = network.resource;
      if (i == 0 && all_foreign && network.device.has_value()) record.device = network.device->id;
      {
        Engine::Turn turn = TRY_CNI(parts_.engine.turn(kTurnWait));
        TRY_CNI(turn.store().put_attachment(record));
      }
      records.push_back(std::move(record));
      execution = execution_for(network, i, type, previous);
      PhaseTimer timer(parts_.metrics, request_.type, Phase::kExec);
      previous = TRY_CNI(execute_add(parts_.engine.kernel(), execution, network.list.version));
    }
    TRY_CNI(set_default_routes(network, *previous));
    result = *previous;
    for (state::Attachment& record : records) {
      conclude(record, result);
      executed_.push_back(std::move(record));
    }
    return {};
  }

  const Value* cni_args(const NetworkWanted& network) const {
    return network.selection.cni_args.present ? &network.selection.cni_args.value : nullptr;
  }

  Execution execution_for(const NetworkWanted& network, size_t position, const std::string& type,
                          const std::optional<cni::AddResult>& previous) const {
    return {.command = cni::Command::kAdd,
            .type = type,
            .container_id = request_.container_id,
            .netns = request_.netns,
            .ifname = network.ifname,
            .args = request_.args_text,
            .path = path_,
            .config = cni::plugin_input(network.list, position, previous, network.capability_args, cni_args(network))};
  }

  // A plugin of ours between others: as if the runtime had called it.
  Outcome<cni::AddResult> add_native_link(const NetworkWanted& network, size_t position, const std::string& type,
                                          const std::optional<cni::AddResult>& previous) {
    cni::Request request = request_;
    request.type = type;
    request.ifname = network.ifname;
    request.path = path_;
    request.config = cni::plugin_input(network.list, position, previous, network.capability_args, cni_args(network));
    cni::PluginConfig config = TRY_CNI(cni::read_plugin_config(request.config));
    std::string answer = TRY_CNI(plugin_request(parts_, request, config));
    return cni::read_result(answer, network.list.version);
  }

  // Default routes in the pod as the pod asks for them: taken from this network, or given to it.
  Outcome<void> set_default_routes(const NetworkWanted& network, cni::AddResult& result) {
    const std::vector<IpAddress>& gateways = network.selection.default_route;
    if (!network.drop_v4_default && !network.drop_v6_default && gateways.empty()) return {};
    os::Kernel& kernel = parts_.engine.kernel();
    auto netns = TRY_CNI(kernel.netns().open(request_.netns));
    auto links = TRY_CNI(kernel.netns().links(*netns));
    IfName name = TRY_CNI(IfName::parse(network.ifname));
    os::Link link = TRY_CNI(links->find(name, os::WithVfs::kNo));
    auto is_given = [&](IpFamily family) {
      return std::ranges::any_of(gateways, [&](const IpAddress& one) { return one.family == family; });
    };
    for (const os::Route& route : TRY_CNI(links->routes())) {
      bool is_default = !route.destination.has_value() || route.destination->length == 0;
      if (!is_default || route.link != link.index) continue;
      if (is_dropped(network, route.family) || is_given(route.family)) TRY_CNI(links->remove_route(route));
    }
    drop_default_routes(network, result);
    for (const IpAddress& gateway : gateways) {
      TRY_CNI(links->add_route({.family = gateway.family, .gateway = gateway, .link = link.index}));
      std::erase_if(result.routes, [&](const cni::Route& route) {
        return route.destination.length == 0 && route.destination.address.family == gateway.family;
      });
      result.routes.push_back({.destination = {IpAddress{.family = gateway.family}, 0}, .gateway = gateway});
    }
    return {};
  }

  // --- networks that are ours, all together

  struct Native {
    size_t index = 0;  // in wish_.networks
    Addresses addresses;
    attach::InterfaceResult made;
  };

  Outcome<void> attach_native() {
    for (NetworkWanted& network : wish_.networks)
      if (network.native()) TRY_CNI(ask_foreign(network));
    Engine::Turn turn = TRY_CNI(waited_turn());
    Outcome<std::vector<Native>> made = make_native(turn);
    if (!made.has_value()) return std::unexpected(std::move(made.error()));
    bool dhcp = std::ranges::any_of(*made, [](const Native& one) { return one.addresses.dhcp; });
    if (!dhcp) return conclude_all(turn, *made);
    {
      [[maybe_unused]] Engine::Turn ended = std::move(turn);  // a server may take its time
    }
    for (Native& one : *made)
      if (one.addresses.dhcp) TRY_CNI(lease(one));
    Engine::Turn last = TRY_CNI(parts_.engine.turn(kTurnWait));
    for (Native& one : *made)
      if (one.addresses.dhcp)
        TRY_CNI(add_addresses(last, key_, wish_.networks[one.index].ifname, request_.netns, one.addresses.result,
                              one.made));
    return conclude_all(last, *made);
  }

  Outcome<Engine::Turn> waited_turn() {
    PhaseTimer timer(parts_.metrics, request_.type, Phase::kWait);
    return TRY_CNI(parts_.engine.turn(kTurnWait));
  }

  // An IPAM type that is not ours is executed before the interface is made.
  Outcome<void> ask_foreign(NetworkWanted& network) {
    doc::Value& plugin = network.list.plugins.front();
    std::optional<std::string> type = foreign_ipam(plugin);
    if (!type.has_value()) return {};
    PhaseTimer timer(parts_.metrics, request_.type, Phase::kExec);
    Outcome<ForeignAddresses> given =
        acquire_foreign(parts_.engine, {.key = key_,
                                        .network = network.name,
                                        .call = execution_for(network, 0, *type, std::nullopt),
                                        .version = network.list.version});
    if (!given.has_value()) return in_network(network, std::move(given.error()));
    plugin.set("ipam", std::move(given->block));
    foreign_addresses_[network.ifname] = std::move(given->addresses);
    executed_.push_back(std::move(given->record));
    return {};
  }

  Outcome<std::vector<Native>> make_native(Engine::Turn& turn) {
    std::vector<Native> all;
    bool needs_device = false;
    for (size_t i = 0; i < wish_.networks.size(); ++i)
      if (const NetworkWanted& network = wish_.networks[i]; network.native()) {
        all.push_back({.index = i});
        needs_device = needs_device || !network.resource.empty() || network.selection.device_id.present;
      }
    if (all.empty()) return all;
    if (needs_device) {
      PhaseTimer timer(parts_.metrics, request_.type, Phase::kPrepare);
      TRY_CNI(choose_devices(turn));
      TRY_CNI(tell_devices());
    }
    attach::PodWanted wanted{.pod = key_,
                             .netns_path = request_.netns,
                             .soft_rdma = meta_.pods().soft_rdma(),
                             // What `up` asks for is all that the pod of a manifest has.
                             .others_stay = !sandbox_.container.empty()};
    Outcome<void> decided = decide(turn, all, wanted);
    if (decided.has_value()) {
      PhaseTimer timer(parts_.metrics, request_.type, Phase::kKernel);
      Result<attach::PodReport> report = attach::attach_pod(turn.kernel(), turn.store(), wanted, deadline());
      if (report.has_value()) {
        for (size_t i = 0; i < all.size(); ++i) all[i].made = std::move(report->interfaces.at(i));
        return all;
      }
      decided = std::unexpected(cni::failure_of(report.error()));
    }
    // Addresses that no interface has come to have.
    std::vector<ipam::Owner> owners;
    for (const Native& one : all) owners.push_back({key_, wish_.networks[one.index].ifname});
    if (Result<void> freed = release_addresses(turn, parts_.host_local, owners); !freed.has_value())
      decided.error().details += "; its addresses could not be given back: " + freed.error().story();
    return std::unexpected(std::move(decided.error()));
  }

  // Devices are chosen by now; addresses are, here.
  Outcome<void> decide(Engine::Turn& turn, std::vector<Native>& all, attach::PodWanted& wanted) {
    PhaseTimer timer(parts_.metrics, request_.type, Phase::kAddresses);
    HostLocal::Locks locks;
    std::vector<AddressesBegun> begun(all.size());
    auto transaction = TRY_CNI(state::Transaction::begin(turn.store()));
    Outcome<void> chosen = choose_addresses(turn, locks, all, wanted, begun);
    TRY_CNI(transaction.commit());  // also after a failure: what was chosen is given back as a whole
    TRY_CNI(std::move(chosen));
    for (size_t i = 0; i < all.size(); ++i) {
      Result<void> finished = finish_addresses(turn, parts_.host_local, begun[i]);
      if (!finished.has_value()) return in_network(wish_.networks[all[i].index], cni::failure_of(finished.error()));
      all[i].addresses = std::move(begun[i].addresses);
      wanted.interfaces[i].addresses = all[i].addresses.assigned;
    }
    return {};
  }

  Outcome<void> choose_addresses(Engine::Turn& turn, HostLocal::Locks& locks, const std::vector<Native>& all,
                                 attach::PodWanted& wanted, std::vector<AddressesBegun>& begun) {
    for (size_t i = 0; i < all.size(); ++i) {
      NetworkWanted& network = wish_.networks[all[i].index];
      Outcome<attach::InterfaceWanted> interface = interface_wanted(turn, locks, network, begun[i]);
      if (!interface.has_value()) return in_network(network, std::move(interface.error()));
      wanted.interfaces.push_back(*std::move(interface));
    }
    return {};
  }

  Outcome<attach::InterfaceWanted> interface_wanted(Engine::Turn& turn, HostLocal::Locks& locks, NetworkWanted& network,
                                                    AddressesBegun& begun) {
    Addresses& addresses = begun.addresses;
    attach::InterfaceWanted wanted{.name = TRY_CNI(IfName::parse(network.ifname)),
                                   .network = network.name,
                                   .selection = network.selection,
                                   .resource = network.resource};
    if (network.drop_v4_default || network.drop_v6_default) drop_ipam_routes(network);
    wanted.config = {.cni_version = network.list.version, .name = network.list.name, .plugins = {}};
    for (const Value& plugin : network.list.plugins) wanted.config.plugins.push_back({text_in(plugin, "type"), plugin});
    if (network.device.has_value()) wanted.device = network.device->vf;
    if (auto given = foreign_addresses_.find(network.ifname); given != foreign_addresses_.end()) {
      addresses = given->second;
      drop_default_routes(network, addresses.result);
      return wanted;
    }
    auto planned = TRY_CNI(wish_.known ? meta_.pods().addresses(turn, wish_.pod, key_, network.ifname)
                                       : std::optional<std::vector<ipam::Assigned>>());
    if (planned.has_value()) {
      addresses.result = TRY_CNI(planned_result(network, wanted.config, *planned));
      addresses.assigned = *std::move(planned);
    } else {
      begun = TRY_CNI(begin_addresses(turn, parts_.host_local, locks, address_request_of(network)));
    }
    return wanted;
  }

  AddressRequest address_request_of(const NetworkWanted& network) const {
    AddressRequest request{.network = network.list.name,
                           .ipam = {},
                           .runtime = Value::object(),
                           .args = {},
                           .cni_args = request_.args,
                           .owner = {key_, network.ifname}};
    if (const Value* ipam = ipam_block(network)) request.ipam = *ipam;
    for (const auto& [capability, value] : network.capability_args) request.runtime.set(capability, value);
    if (network.selection.cni_args.present) request.args = network.selection.cni_args.value;
    return request;
  }

  static void drop_ipam_routes(NetworkWanted& network) {
    Value* ipam = network.list.plugins.front().find("ipam");
    Value* routes = ipam != nullptr ? ipam->find("routes") : nullptr;
    if (routes == nullptr || !routes->is_array()) return;
    std::erase_if(*routes->as_array(), [&](const Value& route) {
      const Value* destination = route.find("dst");
      if (destination == nullptr || !destination->is_string()) return false;
      auto prefix = IpPrefix::parse(*destination->as_string());
      return prefix.has_value() && prefix->length == 0 && is_dropped(network, prefix->address.family);
    });
  }

  Outcome<void> lease(Native& one) {
    PhaseTimer timer(parts_.metrics, request_.type, Phase::kLease);
    const NetworkWanted& network = wish_.networks[one.index];
    const Value* ipam = ipam_block(network);
    one.addresses.result = TRY_CNI(parts_.dhcp.acquire({.owner = {key_, network.ifname},
                                                        .container_id = request_.container_id,
                                                        .network = network.list.name,
                                                        .netns_path = request_.netns,
                                                        .ipam = ipam == nullptr ? Value() : *ipam,
                                                        .cni_args = request_.args},
                                                       deadline()));
    drop_default_routes(network, one.addresses.result);
    return {};
  }

  // --- the end

  Outcome<void> conclude_all(Engine::Turn& turn, const std::vector<Native>& made) {
    for (const Native& one : made) {
      const NetworkWanted& network = wish_.networks[one.index];
      results_[one.index] = result_of(one.made, request_.netns, one.addresses.result);
      add_asked_routes(network, results_[one.index]);
      if (device_info_of(network).is_null()) device_infos_[one.index] = DeviceInfo::of(one.made);
    }
    auto transaction = TRY_CNI(state::Transaction::begin(turn.store()));
    for (const state::Attachment& record : executed_) TRY_CNI(turn.store().put_attachment(record));
    TRY_CNI(remember_pod(turn.store(), sandbox_, request_.netns));
    if (wish_.wants_status()) TRY_CNI(meta_.pods().publish_status(turn, wish_.pod, key_, status_text()));
    TRY_CNI(transaction.commit());
    return {};
  }

  // attach has put them on the interface.
  static void add_asked_routes(const NetworkWanted& network, cni::AddResult& result) {
    for (const IpAddress& gateway : network.selection.default_route) {
      std::erase_if(result.routes, [&](const cni::Route& route) {
        return route.destination.length == 0 && route.destination.address.family == gateway.family;
      });
      result.routes.push_back({.destination = {IpAddress{.family = gateway.family}, 0}, .gateway = gateway});
    }
  }

  std::string status_text() {
    std::vector<NetworkStatus> networks;
    for (size_t i = 0; i < wish_.networks.size(); ++i) {
      Value info = device_info_of(wish_.networks[i]);
      networks.push_back({.name = wish_.networks[i].name,
                          .is_default = wish_.networks[i].is_default,
                          .result = results_[i],
                          .device_info = info.is_null() ? device_infos_[i] : std::move(info)});
    }
    return to_json(networks);
  }

  Parts& parts_;
  Meta& meta_;
  const cni::Request& request_;
  const cni::PluginConfig& config_;
  PodWish& wish_;
  state::Sandbox sandbox_;
  std::string key_;
  std::vector<std::string> path_;
  std::vector<cni::AddResult> results_;  // by network
  std::vector<Value> device_infos_;      // by network: what we know ourselves
  std::vector<state::Attachment> executed_;
  std::map<std::string, Addresses> foreign_addresses_;  // by interface: of IPAM plugins that were executed
};

}  // namespace

std::vector<std::string> program_path(const MetaConfig& config, const cni::Request& request) {
  std::vector<std::string> path = config.bin_dirs;
  for (const std::string& directory : request.path)
    if (std::ranges::find(path, directory) == path.end()) path.push_back(directory);
  return path;
}

Outcome<cni::AddResult> attach_sandbox(Parts& parts, Meta& meta, const cni::Request& request,
                                       const cni::PluginConfig& config, const MetaConfig& meta_config, PodWish& wish) {
  return SandboxAttacher(parts, meta, request, config, meta_config, wish).run();
}

}  // namespace railbed::agent
