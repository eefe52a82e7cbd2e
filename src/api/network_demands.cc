// SPDX-License-Identifier: Apache-2.0
#include "api/network_demands.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "schema/cni_types.h"

namespace railbed::api {

using doc::Value;

std::string mac_problem(const MacAddress& mac) {
  if ((mac.bytes[0] & 1) != 0) return fmt::format("{} is a multicast MAC address", mac);
  if (mac.is_zero()) return fmt::format("{} is not a valid MAC address for an interface", mac);
  return "";
}

std::string sysctl_path(std::string_view key, std::string_view interface) {
  std::string path(key);
  if (path.find('/') == std::string::npos) std::ranges::replace(path, '.', '/');
  if (const size_t place = path.find("IFNAME"); place != std::string::npos) path.replace(place, 6, interface);
  return path;
}

namespace {

bool is_of_a_network_namespace(std::string_view path) {
  if (!path.starts_with("net/") || path.ends_with('/')) return false;
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return path.find('\0') == std::string_view::npos;
}

// Below net/, but the machine's: a network namespace has no file for them, or one that only root of the machine's first
// namespace may write (net/core/sysctl_net_core.c, net_core_table; net/ipv4/sysctl_net_ipv4.c, ipv4_table;
// net/netfilter/nf_conntrack_standalone.c). What a newer kernel makes a namespace's own leaves this list.
constexpr std::string_view kOfTheMachine[] = {
    "core/bpf_jit_enable",
    "core/bpf_jit_harden",
    "core/bpf_jit_kallsyms",
    "core/bpf_jit_limit",
    "core/busy_poll",
    "core/busy_read",
    "core/default_qdisc",
    "core/dev_weight",
    "core/dev_weight_rx_bias",
    "core/dev_weight_tx_bias",
    "core/flow_limit_cpu_bitmap",
    "core/flow_limit_table_len",
    "core/gro_normal_batch",
    "core/high_order_alloc_disable",
    "core/max_skb_frags",
    "core/mem_pcpu_rsv",
    "core/message_burst",
    "core/message_cost",
    "core/netdev_budget",
    "core/netdev_budget_usecs",
    "core/netdev_max_backlog",
    "core/netdev_tstamp_prequeue",
    "core/rmem_default",
    "core/rmem_max",
    "core/rps_sock_flow_entries",
    "core/skb_defer_max",
    "core/warnings",
    "core/wmem_default",
    "core/wmem_max",
    "ipv4/inet_peer_maxttl",
    "ipv4/inet_peer_minttl",
    "ipv4/inet_peer_threshold",
    "ipv4/tcp_available_ulp",
    "ipv4/tcp_low_latency",
    "ipv4/tcp_max_orphans",
    "ipv4/tcp_mem",
    "ipv4/udp_mem",
    "netfilter/nf_conntrack_buckets",
    "netfilter/nf_conntrack_max",
    "nf_conntrack_max",
};

// `path` begins with "net/".
bool is_of_the_machine(std::string_view path) {
  return std::ranges::find(kOfTheMachine, path.substr(4)) != std::end(kOfTheMachine);
}

bool takes(std::span<const Value> plugins, std::string_view capability) {
  return std::ranges::any_of(plugins, [&](const Value& plugin) { return declares(plugin, capability); });
}

bool is_by_ib_kubernetes(const Value& plugin) {
  const Value* flag = plugin.find("ibKubernetesEnabled");
  return flag != nullptr && flag->as_bool() != nullptr && *flag->as_bool();
}

bool is_railbeds(const Value& plugin) {
  const schema::CniType* type = schema::find_cni_type(plugin_type(plugin));
  return type != nullptr && type->makes_or_changes_interfaces();
}

// The same wishes by the keys that railbed's plugins read in cni-args. ib-kubernetes writes the GUID there, where the
// definition does not declare the capability.
std::optional<UntakenDemand> untaken_argument(const NetworkSelection& selection, std::span<const Value> plugins) {
  constexpr std::pair<std::string_view, std::string_view> kIdentities[] = {
      {"ips", "ips"}, {"mac", "mac"}, {"guid", "infinibandGUID"}};
  const auto& args = selection.cni_args;
  if (!args.present || !args->is_object() || std::ranges::none_of(plugins, is_railbeds)) return std::nullopt;
  for (const auto& [key, capability] : kIdentities) {
    const Value* asked = args->find(key);
    if (asked == nullptr || takes(plugins, capability)) continue;
    if (key == "guid" && std::ranges::any_of(plugins, is_by_ib_kubernetes)) continue;
    return UntakenDemand{fmt::format("cni-args.{}", key), capability, asked->span};
  }
  return std::nullopt;
}

}  // namespace

std::string sysctl_problem(std::string_view path) {
  if (!is_of_a_network_namespace(path)) return "does not belong to a network namespace (net.…)";
  if (is_of_the_machine(path)) return "is the whole machine's, and a pod's network namespace cannot set it";
  return "";
}

bool declares(const Value& plugin, std::string_view capability) {
  const Value* declared = plugin.find("capabilities");
  const Value* one = declared != nullptr && declared->is_object() ? declared->find(capability) : nullptr;
  return one != nullptr && one->as_bool() != nullptr && *one->as_bool();
}

std::string_view plugin_type(const Value& plugin) {
  const Value* type = plugin.find("type");
  return type != nullptr && type->is_string() ? std::string_view(*type->as_string()) : std::string_view();
}

std::optional<UntakenDemand> untaken_demand(const NetworkSelection& selection, std::span<const Value> plugins) {
  struct Demand {
    std::string_view capability;
    bool asked = false;
    doc::Span span;
  };
  const Demand demands[] = {
      {"bandwidth", selection.bandwidth.present, selection.bandwidth.span},
      {"infinibandGUID", selection.infiniband_guid.present, selection.infiniband_guid.span},
      {"ips", !selection.ips.empty(), selection.ips.empty() ? doc::Span() : doc::Span(selection.ips.front().span)},
      {"mac", selection.mac.present, selection.mac.span},
      {"portMappings", selection.port_mappings.present, selection.port_mappings.span},
  };
  for (const Demand& demand : demands)
    if (demand.asked && !takes(plugins, demand.capability))
      return UntakenDemand{std::string(demand.capability), demand.capability, demand.span};
  return untaken_argument(selection, plugins);
}

std::optional<DefaultRouteClash> default_route_clash(std::span<const std::span<const IpAddress>> gateways) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    std::optional<size_t> owner;
    for (size_t i = 0; i < gateways.size(); ++i)
      for (const IpAddress& gateway : gateways[i]) {
        if (gateway.family != family) continue;
        if (owner.has_value()) return DefaultRouteClash{family, *owner, i};
        owner = i;
      }
  }
  return std::nullopt;
}

bool is_on_link(const IpAddress& gateway, std::span<const IpPrefix> addresses, std::span<const Route> routes) {
  if (gateway.family == IpFamily::kV6 && gateway.to_gid().is_link_local()) return true;
  const bool in_subnet = std::ranges::any_of(
      addresses, [&](const IpPrefix& one) { return one.length < one.address.bits() && one.contains(gateway); });
  return in_subnet || std::ranges::any_of(routes, [&](const Route& one) {
           return !one.gateway.has_value() && one.destination.contains(gateway);
         });
}

}  // namespace railbed::api
