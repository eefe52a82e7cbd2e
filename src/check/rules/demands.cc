// SPDX-License-Identifier: Apache-2.0
// What a pod asks of its networks, and what networks set, that no agent can do: the answers of api/network_demands.h
// and api/requested_addresses.h, which the agent asks too, at the ADD of a pod.
#include <algorithm>
#include <optional>
#include <set>

#include "api/network_demands.h"
#include "api/requested_addresses.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "schema/cni_types.h"

namespace railbed::check {
namespace {

using doc::Value;

// Calls `visit` with each network of a pod whose definition is in the files.
template <typename Visit>
void each_known_network(const Input& in, Visit visit) {
  for (const PodView& pod : in.views.pods)
    for (const PodView::Net& net : pod.networks)
      if (net.network != nullptr && !net.network->plugins.empty()) visit(pod, net);
}

doc::Span selection_span(const PodView::Net& net) {
  return net.selection->name.span.known() ? net.selection->name.span : net.selection->span;
}

std::vector<std::string> requested_addresses(const PodView::Net& net) {
  std::vector<std::string> all;
  for (const auto& one : net.selection->ips)
    if (std::ranges::find(all, *one) == all.end()) all.push_back(*one);
  return all;
}

// The network's ipam block; nothing where it is not known: one that cannot be read, or of a plugin of others.
std::optional<api::IpamConfig> ipam_of(const NetworkView& network) {
  if (network.addresses) return network.addresses;
  const schema::CniType* type = schema::find_cni_type(network.type);
  const bool ours = type != nullptr && type->makes_or_changes_interfaces();
  if (ours && network.ipam.is_null()) return api::IpamConfig{};
  return std::nullopt;
}

// A range whose prefix is a mistake of its own (RB-IPAM-007): which addresses were meant is not known.
bool has_absurd_range(const api::IpamConfig& config) {
  constexpr int kShortest = 8;
  return std::ranges::any_of(config.range_sets, [](const auto& set) {
    return std::ranges::any_of(set, [](const api::IpamRange& range) { return range.subnet.length < kShortest; });
  });
}

void addresses_that_nothing_gives(const Input& in, Findings& out) {
  each_known_network(in, [&](const PodView& pod, const PodView::Net& net) {
    // KubeVirt attaches networks to virtual machines in its own way.
    const auto ipam = ipam_of(*net.network);
    if (!ipam || pod.pod->virtual_machine || has_absurd_range(*ipam)) return;
    const auto requested = requested_addresses(net);
    const Result<void> given = api::can_give(*ipam, net.key, requested);
    if (given) return;
    const doc::Span span = requested.empty() ? selection_span(net) : doc::Span(net.selection->ips.front().span);
    auto& reported = out.error(span, fmt::format("{} does not start: {}", pod.pod->label(), given.error().message));
    if (net.network->ipam_text != nullptr) reported.note(net.network->ipam_text->span, "its addresses");
    reported.rests_on(name_span(*net.network->document));
    reported.with_fix(requested.empty()
                          ? std::string("addresses in the network's ipam, or \"ips\" in the networks annotation")
                      : given.error().hint.empty() ? std::string("an address of the network, with its prefix length")
                                                   : given.error().hint);
  });
}

void demand_that_nothing_takes(const Input& in, Findings& out) {
  each_known_network(in, [&](const PodView& pod, const PodView::Net& net) {
    const auto untaken = api::untaken_demand(*net.selection, net.network->plugins);
    if (!untaken || net.network->document->patch) return;
    // Multus passes an address and a MAC in CNI_ARGS, too, which the plugins static and bridge read.
    const bool by_arguments = untaken->capability == "ips" || untaken->capability == "mac";
    const doc::Span span = untaken->span.known() ? untaken->span : selection_span(net);
    const std::string text = fmt::format(
        "{} asks {} for {}, and no plugin of it declares that capability: railbed's agent refuses the "
        "pod, and the plugin need not see the request",
        pod.pod->label(), net.network->label(), untaken->what);
    (by_arguments ? out.warning(span, text) : out.error(span, text))
        .note(name_span(*net.network->document), "the network")
        .with_fix(
            net.network->document->kind == "NetworkAttachmentDefinition"
                ? fmt::format("\"capabilities\": {{\"{}\": true}} in the plugin that supports it", untaken->capability)
                : fmt::format("capabilities: '{{\"{}\": true}}' in the network", untaken->capability));
  });
}

// The subnets of the addresses that an interface of the network gets; nothing where they are not known.
std::optional<std::vector<IpPrefix>> subnets_of(const PodView::Net& net) {
  const auto config = net.network == nullptr ? std::nullopt : ipam_of(*net.network);
  if (!config || config->type == api::IpamType::kDhcp) return std::nullopt;
  std::vector<IpPrefix> subnets;
  for (const auto& set : config->range_sets)
    for (const api::IpamRange& range : set) subnets.push_back(range.subnet);
  for (const auto& fixed : config->fixed) subnets.push_back(fixed.address);
  if (config->type == api::IpamType::kStatic)
    for (const auto& one : net.selection->ips)
      if (const auto prefix = IpPrefix::parse(*one)) subnets.push_back(*prefix);
  return subnets;
}

void two_default_routes(const PodView& pod, Findings& out) {
  std::vector<std::span<const IpAddress>> gateways;
  for (const PodView::Net& net : pod.networks) gateways.emplace_back(net.selection->default_route);
  const auto clash = api::default_route_clash(gateways);
  if (!clash) return;
  const PodView::Net& first = pod.networks[clash->first];
  const PodView::Net& second = pod.networks[clash->second];
  auto& reported =
      out.error(selection_span(second),
                fmt::format("{} asks for two default routes of IPv{}: by {} and by {}, and it does not start",
                            pod.pod->label(), clash->family == IpFamily::kV4 ? 4 : 6, first.key, second.key));
  if (clash->first != clash->second) reported.note(selection_span(first), "the first one");
  reported.with_fix("\"default-route\" in one network only");
}

void default_routes(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    two_default_routes(pod, out);
    for (const PodView::Net& net : pod.networks) {
      const auto subnets = subnets_of(net);
      if (!subnets) continue;
      const std::vector<Route> routes = ipam_of(*net.network)->routes;
      for (const IpAddress& gateway : net.selection->default_route) {
        if (api::is_on_link(gateway, *subnets, routes)) continue;
        auto& reported =
            out.error(selection_span(net),
                      fmt::format("{} asks for a default route by {}, which is in no subnet of {}: the kernel "
                                  "refuses it, and the pod does not start",
                                  pod.pod->label(), gateway, net.network->label()));
        if (net.network->ipam_text != nullptr) reported.note(net.network->ipam_text->span, "its addresses");
        reported.rests_on(name_span(*net.network->document));
        reported.with_fix(subnets->empty() ? std::string("addresses in the network's ipam, or no \"default-route\"")
                                           : fmt::format("a gateway in {}", IpPrefix{subnets->front().network(),
                                                                                     subnets->front().length}));
      }
    }
  }
}

void sysctl_of_the_machine(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const Value* tuning = network.plugin("tuning");
    const Value* sysctls = tuning == nullptr ? nullptr : tuning->find("sysctl");
    if (sysctls == nullptr || !sysctls->is_object()) continue;
    for (const Value::Member& member : *sysctls->as_object()) {
      const std::string problem = api::sysctl_problem(api::sysctl_path(member.key, "net1"));
      if (problem.empty() || member.key.find_first_of("<{$") != std::string::npos) continue;
      out.error(member.key_span,
                fmt::format("sysctl {} {}: pods with {} do not start", member.key, problem, network.label()))
          .with_fix("set it on the machine (sysctl.d, a Tuned or MachineConfig object), and leave it out here");
    }
  }
}

void mac_that_no_interface_has(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks)
    for (const Value& plugin : network.plugins) {
      const Value* text = plugin.find("mac");
      if (text == nullptr || text->as_string() == nullptr) continue;
      const auto mac = MacAddress::parse(*text->as_string());
      const std::string problem = mac ? api::mac_problem(*mac) : "";
      if (!problem.empty())
        out.error(text->span, fmt::format("{}: {}; pods with it do not start", network.label(), problem))
            .with_fix("an address of one interface: its first byte is even (02:…)");
    }
}

constexpr Rule kDemandRules[] = {
    {"RB-ATT-001", "addresses that a network cannot give", Needs::kNothing, addresses_that_nothing_gives},
    {"RB-ATT-002", "a request that no plugin of the network takes", Needs::kNothing, demand_that_nothing_takes},
    {"RB-ATT-003", "a default route that the pod cannot have", Needs::kNothing, default_routes},
    {"RB-ATT-004", "a sysctl that no pod can set", Needs::kNothing, sysctl_of_the_machine},
    {"RB-ATT-005", "a MAC address that no interface can have", Needs::kNothing, mac_that_no_interface_has},
};

}  // namespace

std::span<const Rule> demand_rules() {
  return kDemandRules;
}

}  // namespace railbed::check
