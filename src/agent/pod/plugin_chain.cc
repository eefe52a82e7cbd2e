// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/plugin_chain.h"

#include <algorithm>

#include "agent/context/metrics.h"
#include "agent/pod/plugin.h"
#include "agent/records/exec_records.h"

namespace railbed::agent {
namespace {

using doc::Value;

const Value* cni_args(const Delegate& network) {
  return network.selection.cni_args.present ? &network.selection.cni_args.value : nullptr;
}

class ChainRun {
 public:
  ChainRun(Backends& backends, const ChainPlace& place, const Delegate& network)
      : backends_(backends), place_(place), network_(network) {}

  Result<ChainDone> run() {
    backends_.note_interface(network_.name, network_.device.has_value() ? network_.device->id : "");
    std::optional<cni::AddResult> previous;
    ChainDone done;
    const std::vector<Value>& plugins = network_.list.plugins;
    const bool all_foreign = std::ranges::none_of(plugins, [](const Value& one) { return is_native(type_of(one)); });
    for (size_t i = 0; i < plugins.size(); ++i) {
      const std::string type = type_of(plugins[i]);
      if (is_native(type)) {
        previous = TRY(add_own(i, type, previous));
        continue;
      }
      Execution execution = chain_execution(place_, network_, i, type, std::nullopt);
      // What cannot be run has nothing to undo: no record.
      TRY(find_plugin(backends_.engine.running_plugins(), type, execution.path));
      const attach::NetnsRef netns = TRY(attach::netns_ref_at(backends_.engine.kernel(), execution.netns));
      state::Attachment record = program_record(place_.key, network_.name, i, execution, network_.list.version, netns);
      record.resource = network_.resource;
      if (i == 0 && all_foreign && network_.device.has_value()) record.device = network_.device->id;
      const RunningPlugins::Slot slot = TRY(backends_.engine.running_plugins().slot(type));
      TRY(begin_program(backends_.engine, record, place_.sandbox));
      done.records.push_back(std::move(record));
      execution = chain_execution(place_, network_, i, type, previous);
      PhaseTimer timer(backends_, place_.request.type, Phase::kExec);
      previous = TRY(execute_add(slot, execution, network_.list.version));
    }
    done.result = *std::move(previous);
    TRY(set_default_routes(done.result));
    for (state::Attachment& record : done.records) TRY(conclude(backends_.engine, record, done.result, place_.sandbox));
    return done;
  }

 private:
  // A plugin of ours between others: as if the runtime had called it.
  Result<cni::AddResult> add_own(size_t position, const std::string& type,
                                 const std::optional<cni::AddResult>& previous) {
    cni::Request request = place_.request;
    request.type = type;
    request.ifname = network_.ifname;
    request.path = place_.path;
    request.config = cni::plugin_input(network_.list, position, previous, network_.capability_args, cni_args(network_));
    cni::PluginConfig config = TRY(cni::read_plugin_config(request.config));
    std::string answer = TRY(plugin_request(backends_, request, config));
    return cni::read_result(answer, network_.list.version);
  }

  // Default routes in the pod as the pod asks for them: taken from this network, or given to it.
  Result<void> set_default_routes(cni::AddResult& result) {
    const std::vector<IpAddress>& gateways = network_.selection.default_route;
    if (!network_.dropped.any() && gateways.empty()) return {};
    os::Kernel& kernel = backends_.engine.kernel();
    auto netns = TRY(kernel.netns().open(place_.request.netns));
    auto links = TRY(kernel.netns().links(*netns));
    IfName name = TRY(IfName::parse(network_.ifname));
    os::Link link = TRY(links->find(name, os::WithVfs::kNo));
    auto is_given = [&](IpFamily family) {
      return std::ranges::any_of(gateways, [&](const IpAddress& one) { return one.family == family; });
    };
    for (const Route& route : TRY(links->routes())) {
      if (!route.is_default() || route.link != link.index) continue;
      if (network_.dropped.has(route.family()) || is_given(route.family())) TRY(links->remove_route(route));
    }
    for (const IpAddress& gateway : gateways) {
      Route route = Route::default_by(gateway);
      route.link = link.index;
      TRY(links->add_route(route));
    }
    drop_defaults(network_.dropped, result.routes);
    replace_defaults(gateways, result.routes);
    return {};
  }

  Backends& backends_;
  const ChainPlace& place_;
  const Delegate& network_;
};

}  // namespace

Execution chain_execution(const ChainPlace& place, const Delegate& network, size_t position, const std::string& type,
                          const std::optional<cni::AddResult>& previous) {
  return {.command = cni::Command::kAdd,
          .type = type,
          .container_id = place.request.container_id,
          .netns = place.request.netns,
          .ifname = network.ifname,
          .args = place.request.args_text,
          .path = place.path,
          .config = cni::plugin_input(network.list, position, previous, network.capability_args, cni_args(network))};
}

Result<ChainDone> run_chain(Backends& backends, const ChainPlace& place, const Delegate& network) {
  return ChainRun(backends, place, network).run();
}

}  // namespace railbed::agent
