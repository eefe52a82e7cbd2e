// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/meta_pod.h"

#include <algorithm>
#include <set>
#include <span>

#include "agent/pod/tenant_definitions.h"
#include "api/load.h"
#include "api/names.h"
#include "api/network_demands.h"
#include "attach/types.h"
#include "doc/members.h"
#include "schema/cni_types.h"

namespace railbed::agent {
namespace {

using doc::Value;

std::unexpected<Error> wrong(std::string message, std::string hint = {}) {
  return cni::fail_with(cni::kInvalidConfig, std::move(message), std::move(hint));
}

// The list in `text`; it gets the definition's name if it has none.
Result<cni::ListConfig> named(Result<cni::ListConfig> read, const std::string& name) {
  cni::ListConfig list = TRY(std::move(read));
  if (list.name.empty()) list.name = name;
  for (const Value& plugin : list.plugins) {
    std::string type = type_of(plugin);
    const schema::CniType* known = schema::find_cni_type(type);
    if (known != nullptr && known->ours && !known->makes_or_changes_interfaces())
      return wrong(fmt::format("network {}: {} does not create interfaces", name, type));
  }
  return list;
}

class PodReader {
 public:
  PodReader(os::Kernel& kernel, PodSource& source, const MetaConfig& config, const cni::PluginConfig& plugin)
      : kernel_(kernel), source_(source), config_(config), plugin_(plugin) {}

  Result<PodNetworks> read(const cni::Request& request) {
    PodNetworks pod;
    TRY(find_pod(request, pod));
    const auto& annotations = pod.pod.annotations;
    std::optional<Delegate> first;
    if (auto text = annotations.find(kDefaultNetworkKey); text != annotations.end() && !text->second.empty())
      first = TRY(default_of_pod(pod.pod, text->second));
    else
      first = TRY(default_network());
    if (first.has_value()) {
      first->is_default = true;
      first->ifname = request.ifname;
      give_runtime_config(*first);
      pod.networks.push_back(std::move(*first));
    }
    TRY(add_default_networks(pod));
    if (auto text = annotations.find(kNetworksKey); text != annotations.end()) TRY(add_annotated(pod, text->second));
    TRY(name_interfaces(pod, request.ifname));
    TRY(share_default_routes(pod));
    for (Delegate& network : pod.networks) TRY(give_arguments(network));
    return pod;
  }

  Result<std::optional<Delegate>> default_network() {
    if (!config_.delegates.empty()) return std::optional(TRY(inline_network(config_.delegates.front())));
    if (config_.cluster_network.empty()) return std::optional<Delegate>();
    return std::optional(TRY(named_network(config_.cluster_network)));
  }

 private:
  Result<void> find_pod(const cni::Request& request, PodNetworks& pod) {
    std::string key = request.pod();
    size_t slash = key.find('/');
    if (slash == std::string::npos) {
      if (!unknown_pod_fails(config_, source_)) return {};
      return cni::fail_with(cni::kInvalidEnvironment, "CNI_ARGS do not contain K8S_POD_NAMESPACE and K8S_POD_NAME");
    }
    pod.pod = {.ns = key.substr(0, slash), .name = key.substr(slash + 1), .uid = request.pod_uid()};
    Result<PodInfo> found = source_.pod(pod.pod.ns, pod.pod.name, pod.pod.uid);
    if (found.has_value()) {
      pod.pod = std::move(*found);
      pod.known = true;
      return {};
    }
    // As in Multus: a pod that was deleted meanwhile gets only the default network.
    if (found.error().code == Code::kNotFound && !unknown_pod_fails(config_, source_)) return {};
    Error why = std::move(found.error());
    if (const std::string kubeconfig = unserved_kubeconfig(config_, source_); !kubeconfig.empty()) {
      why.message += fmt::format(
          "; the configuration names a kubeconfig ({}), but this agent does not use the API server", kubeconfig);
      why.hint = kUnknownPodHint;
    }
    return fail(std::move(why));
  }

  // A delegate written directly in the configuration.
  Result<Delegate> inline_network(const Value& object) {
    Delegate network;
    network.list = TRY(named(cni::list_config_of(object), plugin_.network));
    network.name = network.list.name;
    return network;
  }

  // clusterNetwork and defaultNetworks name a definition, a configuration of the node, a directory or a file; the first
  // that exists counts.
  Result<Delegate> named_network(const std::string& name) {
    if (api::is_dns_label(name)) {
      Result<NetworkInfo> found = source_.network_if_known(config_.multus_namespace, name);
      if (found.has_value()) return of_definition(*found);
      if (found.error().code != Code::kNotFound) return fail(found.error());
    }
    Delegate network;
    std::string text;
    if (name.starts_with("/"))
      text = TRY(kernel_.files().list(name).has_value() ? first_file(name) : file(name));
    else
      text = TRY(file_by_name(name));
    network.list = TRY(named(cni::read_list_config(text), name));
    network.name = network.list.name;
    return network;
  }

  Result<std::string> file(const std::string& path) {
    return TRY(kernel_.files().read(path).context("reading a network's configuration"));
  }

  static bool is_configuration(const std::string& name) {
    return name.ends_with(".conf") || name.ends_with(".conflist") || name.ends_with(".json");
  }

  Result<std::string> first_file(const std::string& directory) {
    std::vector<std::string> names = TRY(kernel_.files().list(directory));
    for (const std::string& name : names)
      if (is_configuration(name)) return file(directory + "/" + name);
    return cni::fail_with(cni::kGone, fmt::format("no network configuration found in {}", directory));
  }

  Result<std::string> file_by_name(const std::string& wanted) {
    std::vector<std::string> names =
        TRY(kernel_.files().list(config_.conf_dir).context("looking for network {}", wanted));
    for (const std::string& name : names) {
      if (!is_configuration(name)) continue;
      Result<std::string> text = kernel_.files().read(config_.conf_dir + "/" + name);
      if (!text.has_value()) continue;
      Result<cni::ListConfig> list = cni::read_list_config(*text);
      if (list.has_value() && list->name == wanted) return *std::move(text);
    }
    return cni::fail_with(cni::kGone,
                          fmt::format("network {} not found: neither as a definition in namespace {}, nor as a file "
                                      "with that \"name\" in {}",
                                      wanted, config_.multus_namespace, config_.conf_dir));
  }

  Result<Delegate> of_definition(const NetworkInfo& definition) {
    Delegate network{.name = definition.key(), .resource = definition.resource};
    Result<cni::ListConfig> list = definition.config.is_null()
                                       ? cni::read_list_config(TRY(file_by_name(definition.name)))
                                       : cni::list_config_of(definition.config);
    network.list = TRY(named(std::move(list), definition.name).context("network {}", definition.key()));
    return network;
  }

  Result<Delegate> default_of_pod(const PodInfo& pod, const std::string& text) {
    std::vector<api::NetworkSelection> selected = TRY(parse(pod, text, config_.multus_namespace));
    if (selected.size() != 1)
      return wrong(fmt::format("pod {}: {} names {} networks, exactly one is required", pod.key(), kDefaultNetworkKey,
                               selected.size()));
    return selected_network(pod, selected.front());
  }

  static Result<std::vector<api::NetworkSelection>> parse(const PodInfo& pod, const std::string& text,
                                                          const std::string& ns) {
    doc::Diagnostics found;
    auto selections = api::parse_networks_annotation(Value(text), ns, found);
    for (const doc::Diagnostic& one : found.all())
      if (one.severity == doc::Severity::kError)
        return wrong(fmt::format("pod {}: its networks annotation: {}", pod.key(), one.message), one.fix);
    return selections;
  }

  Result<Delegate> selected_network(const PodInfo& pod, const api::NetworkSelection& selection) {
    const NetworkInfo found = TRY(source_.network(*selection.ns, *selection.name).context("pod {}", pod.key()));
    Delegate network = TRY(of_definition(found));
    TRY(is_allowed(found, network));
    network.selection = selection;
    TRY(may_say_ib_kubernetes(found, network));
    return network;
  }

  // A pod's author can write ib-kubernetes' word, and a GUID beside it, unless the cluster keeps it for ib-kubernetes.
  Result<void> may_say_ib_kubernetes(const NetworkInfo& definition, const Delegate& network) {
    const auto& args = network.selection.cni_args;
    const bool said = args.present && args->is_object() && args->find(attach::kIbKubernetesWord) != nullptr;
    if (!said || std::ranges::none_of(network.list.plugins, is_by_ib_kubernetes)) return {};
    if (TRY(source_.reserves_ib_kubernetes().context("network {}: it waits for ib-kubernetes", definition.key())))
      return {};
    return wrong(fmt::format("network {}: it waits for ib-kubernetes, but the author of a pod can also write {}",
                             definition.key(), attach::kIbKubernetesWord),
                 "apply deploy/sharing/ib-kubernetes.yaml, which reserves it for ib-kubernetes' service account");
  }

  // What a pod's author selects; networks that the node's configuration names are the administrator's.
  Result<void> is_allowed(const NetworkInfo& definition, const Delegate& network) {
    const std::optional<std::string> use =
        definition.config.is_null() ? "its configuration is a file of the node" : use_of_node(network.list);
    if (!use.has_value()) return {};
    if (TRY(source_.may_use_node(definition.ns).context("network {}: {}", definition.key(), *use))) return {};
    return wrong(fmt::format("network {}: {}, which is refused in namespace {} (--tenant-definitions restrict)",
                             definition.key(), *use, definition.ns),
                 fmt::format("use a resource, or have an administrator label the namespace {}={}", kHostDevicesLabel,
                             kHostDevicesAllowed));
  }

  bool is_global(const std::string& ns) const {
    return std::ranges::find(config_.global_namespaces, ns) != config_.global_namespaces.end();
  }

  // Networks that every pod gets, except pods in the system's own namespaces.
  Result<void> add_default_networks(PodNetworks& pod) {
    for (size_t i = 1; i < config_.delegates.size(); ++i)
      pod.networks.push_back(TRY(inline_network(config_.delegates[i])));
    bool system = std::ranges::find(config_.system_namespaces, pod.pod.ns) != config_.system_namespaces.end();
    if (system) return {};
    for (const std::string& name : config_.default_networks) pod.networks.push_back(TRY(named_network(name)));
    return {};
  }

  Result<void> add_annotated(PodNetworks& pod, const std::string& text) {
    const std::vector<api::NetworkSelection> selections = TRY(parse(pod.pod, text, pod.pod.ns));
    if (const size_t sum = pod.networks.size() + selections.size(); sum > config_.max_networks)
      return wrong(
          fmt::format("pod {} requests {} networks; the limit is {}", pod.pod.key(), sum, config_.max_networks),
          "maxNetworks in the configuration sets the limit");
    for (const api::NetworkSelection& one : selections) {
      if (config_.namespace_isolation && *one.ns != pod.pod.ns && !is_global(*one.ns))
        return wrong(
            fmt::format("pod {} may not use network {}/{}: namespaceIsolation is on", pod.pod.key(), *one.ns,
                        *one.name),
            fmt::format("define the network in namespace {}, or add {} to globalNamespaces", pod.pod.ns, *one.ns));
      pod.networks.push_back(TRY(selected_network(pod.pod, one)));
    }
    return {};
  }

  // net1, net2, … by position among all networks except the default one.
  static Result<void> name_interfaces(PodNetworks& pod, const std::string& default_name) {
    std::set<std::string> names;
    size_t position = 0;
    for (Delegate& network : pod.networks) {
      if (network.is_default) {
        names.insert(default_name);
        continue;
      }
      ++position;
      network.ifname =
          network.selection.interface.present ? *network.selection.interface : fmt::format("net{}", position);
      if (!names.insert(network.ifname).second)
        return wrong(fmt::format("pod {}: two networks request the interface name {}", pod.pod.key(), network.ifname));
    }
    return {};
  }

  // One network per family may have the pod's default route; the others lose it.
  static Result<void> share_default_routes(PodNetworks& pod) {
    std::vector<std::span<const IpAddress>> gateways;
    for (const Delegate& network : pod.networks) gateways.emplace_back(network.selection.default_route);
    if (const auto clash = api::default_route_clash(gateways))
      return wrong(fmt::format("pod {}: default-route has two gateways of IPv{}: {} and {}", pod.pod.key(),
                               clash->family == IpFamily::kV4 ? 4 : 6, pod.networks[clash->first].name,
                               pod.networks[clash->second].name),
                   "use one network for the default route; ECMP is not supported");
    for (IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
      const auto of_family = [&](const IpAddress& gateway) { return gateway.family == family; };
      const auto owner = std::ranges::find_if(pod.networks, [&](const Delegate& network) {
        return std::ranges::any_of(network.selection.default_route, of_family);
      });
      if (owner == pod.networks.end()) continue;
      for (Delegate& network : pod.networks)
        if (&network != &*owner) (family == IpFamily::kV4 ? network.dropped.v4 : network.dropped.v6) = true;
    }
    return {};
  }

  // The runtime's arguments (port mappings, bandwidth, …) belong to the default network.
  void give_runtime_config(Delegate& network) const {
    if (!plugin_.runtime.is_object()) return;
    for (const Value::Member& one : *plugin_.runtime.as_object()) network.capability_args[one.key] = one.value;
  }

  // Passes the pod's requests for this network as arguments of capabilities. A request that no plugin of the chain
  // supports must not be dropped silently.
  static Result<void> give_arguments(Delegate& network) {
    const api::NetworkSelection& selection = network.selection;
    std::map<std::string, Value> args;
    if (!selection.ips.empty()) {
      Value& ips = args["ips"] = Value::array();
      for (const auto& ip : selection.ips) ips.push(*ip);
    }
    if (selection.mac.present) args["mac"] = selection.mac->to_string();
    if (selection.infiniband_guid.present) args["infinibandGUID"] = selection.infiniband_guid->to_pairs();
    if (selection.bandwidth.present) args["bandwidth"] = *selection.bandwidth;
    if (selection.port_mappings.present) args["portMappings"] = *selection.port_mappings;
    if (const auto untaken = api::untaken_demand(selection, network.list.plugins))
      return wrong(fmt::format("network {} ({}): the pod requests {}, but no plugin of the network supports it",
                               network.name, network.ifname, untaken->what),
                   fmt::format("add \"capabilities\": {{\"{}\": true}} to the plugin that supports it, or remove the "
                               "request",
                               untaken->capability));
    for (auto& [capability, value] : args) network.capability_args[capability] = std::move(value);
    return {};
  }

  static bool is_by_ib_kubernetes(const Value& plugin) { return doc::flag_in(plugin, "ibKubernetesEnabled"); }

  os::Kernel& kernel_;
  PodSource& source_;
  const MetaConfig& config_;
  const cni::PluginConfig& plugin_;
};

}  // namespace

std::string type_of(const Value& plugin) {
  return std::string(api::plugin_type(plugin));
}

bool is_native(const std::string& type) {
  const schema::CniType* known = schema::find_cni_type(type);
  return known != nullptr && known->makes_or_changes_interfaces();
}

bool Delegate::native() const {
  return std::ranges::all_of(list.plugins, [](const Value& plugin) { return is_native(type_of(plugin)); });
}

void Delegate::set_device(const Device& chosen) {
  device = chosen;
  capability_args["deviceID"] = chosen.id;
  if (native()) {
    if (!chosen.vf.has_value()) selection.device_id = api::given(chosen.id);
    return;
  }
  for (Value& plugin : list.plugins) {
    plugin.set("deviceID", chosen.id);
    plugin.set("pciBusID", chosen.id);
  }
}

Result<std::optional<Delegate>> default_network(os::Kernel& kernel, PodSource& source, const MetaConfig& config,
                                                const cni::PluginConfig& plugin, const std::string& ifname) {
  auto network = TRY(PodReader(kernel, source, config, plugin).default_network());
  if (network.has_value()) {
    network->is_default = true;
    network->ifname = ifname;
  }
  return network;
}

Result<PodNetworks> read_pod_networks(os::Kernel& kernel, PodSource& source, const MetaConfig& config,
                                      const cni::PluginConfig& plugin, const cni::Request& request) {
  return PodReader(kernel, source, config, plugin).read(request);
}

}  // namespace railbed::agent
