// SPDX-License-Identifier: Apache-2.0
// Addresses of secondary networks: do they fit the cluster, the nodes and each other.
#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "api/network_demands.h"
#include "api/policy.h"
#include "base/well_known.h"
#include "check/data_files.h"
#include "check/read/copies.h"
#include "check/rules/env_settings.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"

namespace railbed::check {
namespace {

using doc::Value;

constexpr int kShortestV4 = 8;  // RB-IPAM-007 reports shorter ones
constexpr int kMainTable = 254;

// The place of a range's subnet.
doc::Span subnet_span(const NetworkView& network, const api::IpamRange& range) {
  for (const std::string_view key : {"range", "subnet"})
    if (const Value* text = network.ipam.find(key)) return text->span;
  return range.span;
}

std::vector<api::IpamRange> ranges_of(const NetworkView& network) {
  std::vector<api::IpamRange> ranges;
  if (network.addresses)
    for (const auto& set : network.addresses->range_sets) ranges.insert(ranges.end(), set.begin(), set.end());
  return ranges;
}

// How many addresses pods can get from one range: first to last, without what is excluded inside.
uint64_t usable(const api::IpamRange& range) {
  std::vector<IpRange> holes;
  for (const IpPrefix& prefix : range.excluded) {
    IpRange hole{prefix.network(), prefix.last()};
    if (hole.first.family != range.addresses.first.family) continue;
    hole.first = std::max(hole.first, range.addresses.first);
    hole.last = std::min(hole.last, range.addresses.last);
    if (hole.first <= hole.last) holes.push_back(hole);
  }
  std::ranges::sort(holes);
  uint64_t count = range.addresses.size();
  std::optional<IpAddress> behind;
  for (IpRange hole : holes) {
    if (behind && hole.last <= *behind) continue;
    if (behind && hole.first <= *behind) hole.first = behind->plus(1).value_or(hole.last);
    count -= std::min(count, hole.size());
    behind = hole.last;
  }
  return count;
}

// The range set with the fewest addresses decides: each pod gets one of every set.
uint64_t capacity(const api::IpamConfig& config) {
  uint64_t fewest = UINT64_MAX;
  for (const auto& set : config.range_sets) {
    uint64_t sum = 0;
    for (const api::IpamRange& range : set) {
      const uint64_t some = usable(range);
      sum = sum > UINT64_MAX - some ? UINT64_MAX : sum + some;
    }
    fewest = std::min(fewest, sum);
  }
  return fewest;
}

// A network of the cluster, and where it was found.
struct ClusterNetwork {
  IpPrefix prefix;
  doc::Span span;            // unknown: by an option
  std::string name;          // of the distribution whose default it is; empty: it is this cluster's own
  bool one_service = false;  // the address of a Service: the cluster's networks are not known by it
};

void add_prefix(std::string_view text, const doc::Span& span, std::vector<ClusterNetwork>& out) {
  for (const std::string& part : comma_parts(text))
    if (const auto prefix = IpPrefix::parse(part)) out.push_back({*prefix, span, ""});
}

// The networks that options and objects name: a cluster's configuration, addresses of its Services.
std::vector<ClusterNetwork> known_cluster_networks(const Input& in) {
  std::vector<ClusterNetwork> all;
  for (const IpPrefix& prefix : in.settings.cluster_networks) all.push_back({prefix, {}, ""});
  const auto add = [&](const Document& document, std::string_view path) {
    for (const Word& word : texts_at(document.value, path)) add_prefix(word.text, word.span, all);
  };
  for (const Document& document : in.bundle.documents) {
    if (document.kind == "ClusterConfiguration") {
      for (const std::string_view path : {"networking.podSubnet", "networking.serviceSubnet"}) add(document, path);
    } else if (document.kind == "Network" && document.api_version.find("openshift.io/") != std::string::npos) {
      add(document, "spec.serviceNetwork");
      if (const Value* list = at(document.value, "spec.clusterNetwork"); list != nullptr && list->is_array())
        for (const Value& one : *list->as_array())
          if (const Value* cidr = one.find("cidr")) add_prefix(text_at(one, "cidr"), cidr->span, all);
    } else if (document.kind == "Service") {
      for (const Word& word : texts_at(document.value, "spec.clusterIP"))
        if (const auto address = IpAddress::parse(word.text))
          all.push_back({{*address, address->bits()}, word.span, "", true});
    }
  }
  return all;
}

// The defaults of distributions: of the one that the files show, else of all.
std::vector<ClusterNetwork> usual_cluster_networks(const Input& in) {
  static const Value kData = data_document("cluster_networks.yaml");
  const bool openshift = is_openshift(in.bundle);
  std::vector<ClusterNetwork> all;
  for (const Value& row : *kData.find("defaults")->as_array()) {
    if (openshift && text_at(row, "by") != "openshift") continue;
    for (const std::string_view key : {"pods", "services"})
      for (const Word& word : texts_at(row, key))
        if (const auto prefix = IpPrefix::parse(word.text))
          all.push_back({*prefix, {}, std::string(text_at(row, "name"))});
  }
  return all;
}

void overlaps_cluster(const Input& in, Findings& out) {
  const auto cluster_networks = known_cluster_networks(in);
  for (const NetworkView& network : in.views.networks)
    for (const api::IpamRange& range : ranges_of(network))
      for (const ClusterNetwork& cluster : cluster_networks) {
        if (range.subnet.length < kShortestV4 || !range.subnet.overlaps(cluster.prefix)) continue;
        auto& reported = out.error(
            subnet_span(network, range),
            fmt::format("{} overlaps with {}, a network of the cluster: pods attached to it cannot reach the "
                        "pods and services in that network",
                        IpPrefix{range.subnet.network(), range.subnet.length}.to_string(), cluster.prefix.to_string()));
        if (cluster.span.known()) reported.note(cluster.span, "the cluster's network");
        reported.with_fix("take a prefix that the cluster does not use");
      }
}

// One destination of a network's routes in the main table.
struct Destination {
  IpPrefix prefix;
  doc::Span span;
};

std::vector<Destination> destinations_of(const NetworkView& network) {
  std::vector<Destination> all;
  const Value* routes = network.ipam.find("routes");
  if (routes == nullptr || !routes->is_array()) return all;
  for (const Value& route : *routes->as_array()) {
    if (integer_at(route, "table").value_or(kMainTable) != kMainTable) continue;
    const auto prefix = IpPrefix::parse(text_at(route, "dst"));
    if (prefix) all.push_back({*prefix, route.find("dst")->span});
  }
  return all;
}

// A route for half of all addresses, or more: with its other half it is a default route.
bool is_half_of_all(const IpPrefix& prefix) {
  return prefix.length <= 1;
}

// A route of a network beats the pod's own way into the cluster, if its destination is more than a default route.
void route_into_cluster(const Input& in, const NetworkView& network, const Destination& to, Findings& out) {
  const auto covers = [&](const ClusterNetwork& cluster) {
    return to.prefix.address.family == cluster.prefix.address.family && to.prefix.length <= cluster.prefix.length &&
           to.prefix.contains(cluster.prefix.network());
  };
  const auto known = known_cluster_networks(in);
  // A rail's own addresses are inside of its routes; they are no way into the cluster.
  const auto overlaps = [&](const ClusterNetwork& cluster) { return to.prefix.overlaps(cluster.prefix); };
  const auto hit = std::ranges::find_if(known, overlaps);
  const auto report = [&](bool sure, const ClusterNetwork& cluster) {
    const std::string text = fmt::format(
        "the route to {} of {} covers {}, {}: traffic to pods, services and DNS there leaves through this network",
        to.prefix, network.label(), cluster.prefix,
        cluster.name.empty() ? "a network of the cluster" : "which " + cluster.name + " uses by default");
    auto& reported = sure ? out.error(to.span, text) : out.warning(to.span, text);
    if (cluster.span.known()) reported.note(cluster.span, "the cluster's network");
    if (!cluster.name.empty())
      reported.at_most(doc::Confidence::kMedium, "nothing here says which networks the cluster has");
    reported.with_fix(
        "a destination that only the network's own machines are in; --cluster-network names the cluster's");
  };
  if (hit != known.end()) return report(true, *hit);
  if (std::ranges::any_of(known, [](const ClusterNetwork& one) { return !one.one_service; })) return;
  // Of a cluster that nothing here describes: sure where the route covers a default of each distribution.
  const auto usual = usual_cluster_networks(in);
  std::set<std::string> names;
  std::set<std::string> covered;
  const ClusterNetwork* first = nullptr;
  for (const ClusterNetwork& cluster : usual) {
    names.insert(cluster.name);
    if (!covers(cluster)) continue;
    covered.insert(cluster.name);
    if (first == nullptr) first = &cluster;
  }
  if (first != nullptr) report(covered.size() == names.size(), *first);
}

void routes_into_cluster(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks)
    for (const Destination& to : destinations_of(network))
      if (!is_half_of_all(to.prefix)) route_into_cluster(in, network, to, out);
}

void cluster_is_reached(const Input& in, Findings& out) {
  overlaps_cluster(in, out);
  routes_into_cluster(in, out);
}

bool wants_default_route(const Input& in, const NetworkView& network) {
  return std::ranges::any_of(network.users, [&](size_t user) {
    return std::ranges::any_of(in.views.pods[user].networks, [&](const PodView::Net& net) {
      return net.network == &network && !net.selection->default_route.empty();
    });
  });
}

void takes_default_route(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const auto all = destinations_of(network);
    if (all.empty() || wants_default_route(in, network)) continue;
    for (const Destination& to : all) {
      const auto is_other_half = [&](const Destination& one) {
        return one.prefix.length == 1 && one.prefix.address.family == to.prefix.address.family &&
               one.prefix.network() != to.prefix.network();
      };
      const bool half = to.prefix.length == 1;
      if (to.prefix.length > 1 || (half && std::ranges::none_of(all, is_other_half))) continue;
      out.warning(to.span,
                  fmt::format("{} takes the pod's default route away from eth0{}: traffic to DNS, API server and "
                              "registries goes into the fabric",
                              network.label(), half ? ", in two halves" : ""))
          .with_fix(
              "remove the route, or request it in the pods that need it (\"default-route\" in the networks "
              "annotation)");
      if (half) break;  // one finding for both
    }
  }
}

void gateway_is_handed_out(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    if (text_at(network.ipam, "type") != "whereabouts") continue;
    for (const api::IpamRange& range : ranges_of(network)) {
      if (!range.gateway || !range.addresses.contains(*range.gateway)) continue;
      // The parser has already excluded the gateway once.
      if (std::ranges::count_if(range.excluded, [&](const IpPrefix& hole) { return hole.contains(*range.gateway); }) >
          1)
        continue;
      const Value* gateway = network.ipam.find("gateway");
      out.warning(gateway == nullptr ? range.span : gateway->span,
                  fmt::format("whereabouts may allocate {} to a pod: it does not exclude its gateway", *range.gateway))
          .with_fix(fmt::format("\"exclude\": [\"{}/{}\"], or begin the range behind it", *range.gateway,
                                range.gateway->bits()));
    }
  }
}

// An object as its file has it: two kustomizations that give one file's object two namespaces make no second object of
// it.
Identity identity_in_files(const Document& document) {
  Identity identity = identity_of(document);
  if (document.ns_from != NamespaceFrom::kWritten) std::get<2>(identity).clear();
  return identity;
}

// The pods that ask a network for addresses, `each` for every attachment of a template. The same object in several
// files (alternatives, stages) is one object: the largest of them counts.
template <typename Each>
int64_t count_pods(const Input& in, const NetworkView& network, Each each) {
  std::map<Identity, std::map<const Document*, int64_t>> counts;
  int64_t sum = 0;
  for (const size_t user : network.users) {
    const PodView& pod = in.views.pods[user];
    for (const PodView::Net& net : pod.networks) {
      if (net.network != &network || !net.selection->ips.empty()) continue;
      const Document& document = *pod.pod->document;
      if (document.name.empty())
        sum += each(*pod.pod);
      else
        counts[identity_in_files(document)][&document] += each(*pod.pod);
    }
  }
  for (const auto& [identity, documents] : counts) sum += std::ranges::max(documents | std::views::values);
  return sum;
}

// How many addresses the pods of the bundle take from a network for certain, all at once: those that are there whatever
// the number of nodes is.
uint64_t certain_users(const Input& in, const NetworkView& network) {
  return static_cast<uint64_t>(count_pods(in, network, [](const PodTemplate& pod) -> int64_t {
    return pod.per_node ? 1 : std::max<int64_t>(pod.replicas, 0);
  }));
}

// A finding that counts a network's pods rests on them.
void rest_on_users(const Input& in, const NetworkView& network, doc::Diagnostic& reported) {
  for (const size_t user : network.users) reported.rests_on(in.views.pods[user].pod->span);
}

struct Need {
  uint64_t vfs = 0;
  std::set<std::string> nodes;
};

Need need_of(const Input& in, std::string_view resource) {
  Need need;
  for (const PoolPart& part : in.views.pool(resource)) {
    need.vfs += static_cast<uint64_t>(part.vfs);
    need.nodes.insert(part.graph->facts->node);
  }
  return need;
}

void too_few_for_nodes(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const auto ranges = ranges_of(network);
    if (ranges.empty() || network.resource.empty()) continue;
    const uint64_t addresses = capacity(*network.addresses);
    const Need need = need_of(in, network.resource);
    // host-local counts separately on every node.
    const bool per_node = text_at(network.ipam, "type") == "host-local";
    const uint64_t vfs = per_node && !need.nodes.empty() ? need.vfs / need.nodes.size() : need.vfs;
    if (vfs <= addresses) continue;
    const uint64_t pods = per_node ? 0 : certain_users(in, network);
    auto& reported = out.warning(
        subnet_span(network, ranges.front()),
        fmt::format("{} addresses for the {} VFs of {} on {} node{}: further pods wait for an address", addresses, vfs,
                    network.resource, per_node ? 1 : need.nodes.size(), per_node || need.nodes.size() == 1 ? "" : "s"));
    for (const PolicyView* policy : in.views.policies_of(network))
      if (const Value* count = policy->spec->find("numVfs")) reported.note(count->span, "VFs per PF");
    if (pods > addresses) {
      reported.severity = doc::Severity::kError;
      reported.message += fmt::format(", and the pods here ask for {} at once", pods);
      rest_on_users(in, network, reported);
    }
    reported.with_fix(fmt::format("a range of at least {} addresses", vfs));
  }
}

// The minimum number of VFs that a policy makes on one node, from the PFs that it names.
uint64_t vfs_per_node(const PolicyView& policy) {
  const auto vfs = static_cast<uint64_t>(std::max<int64_t>(integer_at(*policy.spec, "numVfs").value_or(0), 0));
  std::set<std::string> pfs;
  std::map<std::string, uint64_t> parts;  // VFs of the PFs with a range
  for (const Word& name : texts_at(*policy.spec, "nicSelector.pfNames")) {
    const auto parsed = api::parse_pf_name(name.text);
    if (!parsed) return 1;
    if (parsed->vfs)
      parts[parsed->name] += static_cast<uint64_t>(std::max(parsed->vfs->last - parsed->vfs->first + 1, 1));
    pfs.insert(parsed->name);
  }
  const size_t roots = texts_at(*policy.spec, "nicSelector.rootDevices").size();
  // Not every node has all that are named.
  if (!parts.empty()) return std::ranges::min(parts | std::views::values);
  return vfs * std::max<uint64_t>(1, pfs.empty() || (roots > 0 && roots < pfs.size()) ? roots : pfs.size());
}

void full_after_few_nodes(const Input& in, Findings& out) {
  constexpr uint64_t kFewNodes = 4;
  if (!in.graphs.empty()) return;  // with facts RB-ADDR-004 counts exactly
  for (const NetworkView& network : in.views.networks) {
    const auto ranges = ranges_of(network);
    const auto policies = in.views.policies_of(network);
    if (ranges.empty() || policies.size() != 1 || text_at(network.ipam, "type") == "host-local") continue;
    const Value* selected = at(*policies[0]->spec, "nodeSelector");
    if (selected != nullptr && selected->find(kHostnameLabel) != nullptr) continue;
    const uint64_t addresses = capacity(*network.addresses);
    const uint64_t per_node = vfs_per_node(*policies[0]);
    if (per_node == 0 || addresses >= per_node * kFewNodes) continue;
    const Value* count = policies[0]->spec->find("numVfs");
    const uint64_t pods = certain_users(in, network);
    auto& reported = out.note(subnet_span(network, ranges.front()),
                              fmt::format("{} addresses are enough for {} node{}: a node has {} VF{} or more of {}",
                                          addresses, addresses / per_node, addresses / per_node == 1 ? "" : "s",
                                          per_node, per_node == 1 ? "" : "s", network.resource));
    if (pods > addresses) {
      reported.severity = doc::Severity::kError;
      reported.message =
          fmt::format("{} addresses, and the pods here ask for {} at once: further pods do not start", addresses, pods);
      rest_on_users(in, network, reported);
    } else if (addresses < per_node) {
      reported.severity = doc::Severity::kWarning;
    }
    reported.note(count == nullptr ? doc::Span() : count->span, "VFs per PF; PFs are named by the nicSelector")
        .with_fix("count VFs × PFs × nodes, also of the nodes to come");
  }
}

bool is_rail(const NetworkView& network) {
  static constexpr std::string_view kTypes[] = {"sriov", "ib-sriov", "host-device", "macvlan", "ipvlan", "ipoib"};
  return std::ranges::find(kTypes, network.type) != std::end(kTypes);
}

// The number of pods that use a network, as far as the bundle shows.
int64_t users(const Input& in, const NetworkView& network) {
  return count_pods(in, network, [](const PodTemplate& pod) {
    return pod.per_node ? std::max<int64_t>(2, pod.replicas) : pod.replicas;
  });
}

bool on_one_node(const Input& in, const NetworkView& network) {
  const auto nodes = need_of(in, network.resource).nodes.size();
  if (nodes > 0) return nodes == 1;
  if (network.resource.empty() && !in.graphs.empty()) return in.graphs.size() == 1;
  const auto policies = in.views.policies_of(network);
  return !policies.empty() && std::ranges::all_of(policies, [](const PolicyView* policy) {
    const Value* selected = at(*policy->spec, "nodeSelector");
    return selected != nullptr && selected->find(kHostnameLabel) != nullptr;
  });
}

void host_local_on_many_nodes(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const Value* type = network.ipam.find("type");
    if (type == nullptr || text_at(network.ipam, "type") != "host-local" || !is_rail(network)) continue;
    if (on_one_node(in, network)) continue;
    out.warning(type->span,
                "host-local allocates per node: all nodes allocate the same addresses, and pods that share an address "
                "cannot communicate reliably")
        .with_fix("whereabouts, or a network of its own with a range of its own per node");
  }
}

void static_for_many_pods(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const Value* addresses = network.ipam.find("addresses");
    if (addresses == nullptr || text_at(network.ipam, "type") != "static") continue;
    const int64_t count = users(in, network);
    if (count < 2) continue;
    auto& reported =
        out.error(addresses->span, fmt::format("{} pods use {} and all get this same address", count, network.label()))
            .with_fix("whereabouts, or \"ips\" in the networks annotation of each pod (capability \"ips\")");
    rest_on_users(in, network, reported);
  }
}

bool runs_dhcp_daemon(const Input& in) {
  for (const Document& document : in.bundle.documents)
    if (document.kind == "Network" && document.api_version.starts_with("operator.openshift.io/")) return true;
  for (const PodTemplate& pod : in.pods)
    for (const Container& container : pod.containers)
      for (const std::string_view key : {"command", "args"})
        for (const Word& word : texts_at(*container.value, key))
          if (word.text == "dhcp" || word.text.ends_with("/dhcp")) return true;
  return false;
}

void dhcp_without_daemon(const Input& in, Findings& out) {
  if (runs_dhcp_daemon(in)) return;
  for (const NetworkView& network : in.views.networks) {
    const Value* type = network.ipam.find("type");
    if (type == nullptr || text_at(network.ipam, "type") != "dhcp") continue;
    out.warning(type->span,
                "dhcp requires the plugin's daemon on every node; nothing here starts it, and OpenShift starts it only "
                "for networks that its Network object declares")
        .with_fix(
            "run `dhcp daemon` in a DaemonSet (OpenShift: a dummy dhcp network in "
            "additionalNetworks), or use whereabouts");
  }
}

void one_subnet_twice(const Input& in, Findings& out) {
  std::set<std::pair<const NetworkView*, const NetworkView*>> reported;
  constexpr size_t kMost = 64;  // rails of a pod that are compared
  for (const PodView& pod : in.views.pods)
    for (size_t i = 0; i < std::min(pod.networks.size(), kMost); ++i)
      for (size_t j = 0; j < i; ++j) {
        const NetworkView* later = pod.networks[i].network;
        const NetworkView* first = pod.networks[j].network;
        if (later == nullptr || first == nullptr || later == first) continue;
        for (const api::IpamRange& a : ranges_of(*later))
          for (const api::IpamRange& b : ranges_of(*first)) {
            if (!a.subnet.overlaps(b.subnet) || !reported.insert({first, later}).second) continue;
            out.warning(subnet_span(*later, a),
                        fmt::format("{} has two interfaces in one subnet ({} and {}): Linux sends through one of them, "
                                    "and answers for both on either",
                                    pod.pod->label(), pod.networks[j].interface, pod.networks[i].interface))
                .note(subnet_span(*first, b), "the other one")
                .with_fix("a subnet for each rail");
          }
      }
}

// Whether the pod's routes go through the ipam's gateway: those without one of their own.
bool has_routes_through_gateway(const NetworkView& network) {
  const Value* routes = network.ipam.find("routes");
  return routes != nullptr && routes->is_array() &&
         std::ranges::any_of(*routes->as_array(), [](const Value& route) { return text_at(route, "gw").empty(); });
}

void gateway_outside(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const auto ranges = ranges_of(network);
    std::vector<std::pair<IpAddress, doc::Span>> gateways;
    for (const api::IpamRange& range : ranges)
      if (range.gateway && network.ipam.find("gateway") == nullptr) gateways.emplace_back(*range.gateway, range.span);
    if (const Value* gateway = network.ipam.find("gateway"))
      if (const auto address = IpAddress::parse(text_at(network.ipam, "gateway")))
        gateways.emplace_back(*address, gateway->span);
    for (const auto& [gateway, span] : gateways) {
      std::vector<IpPrefix> subnets;
      for (const api::IpamRange& range : ranges) subnets.push_back(range.subnet);
      // Routes without a gateway of their own go through this one: none of them leads to it.
      if (ranges.empty() || api::is_on_link(gateway, subnets, {})) continue;
      const bool needed = has_routes_through_gateway(network);
      const std::string text = fmt::format("the gateway {} is not in {}", gateway,
                                           IpPrefix{ranges.front().subnet.network(), ranges.front().subnet.length});
      auto& reported =
          needed ? out.error(span, text + ": the kernel refuses routes through it, and the pod does not start")
                 : out.warning(span, text + ": pods cannot reach it");
      reported.note(subnet_span(network, ranges.front()), "the addresses of pods")
          .with_fix("an address of the same subnet");
    }
  }
}

void one_range_twice(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const Value* list = network.ipam.find("ipRanges");
    if (text_at(network.ipam, "type") != "whereabouts" || list == nullptr || !list->is_array()) continue;
    std::vector<const Value*> seen;
    if (const Value* own = network.ipam.find("range")) seen.push_back(own);
    for (const Value& item : *list->as_array()) {
      const Value* range = item.find("range");
      const auto prefix = IpPrefix::parse(text_at(item, "range"));
      if (range == nullptr || !prefix) continue;
      const auto first = std::ranges::find_if(seen, [&](const Value* one) {
        const auto other = one->as_string() ? IpPrefix::parse(*one->as_string()) : prefix;
        return other && other->length == prefix->length && other->network() == prefix->network();
      });
      if (first != seen.end())
        out.warning(range->span,
                    fmt::format("{} has the range {} twice: whereabouts keeps one pool for both, and gives a "
                                "pod one address two times (\"file exists\")",
                                network.label(), *prefix))
            .note((*first)->span, "the first one")
            .with_fix("one range for each family, with exclude for what is left out");
      seen.push_back(range);
    }
  }
}

// A tuning that lets routers configure an interface whose addresses the network assigns.
void routers_configure(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const Value* tuning = network.plugin("tuning");
    const Value* sysctls = tuning == nullptr ? nullptr : tuning->find("sysctl");
    if (sysctls == nullptr || !sysctls->is_object() || !network.addresses) continue;
    if (network.addresses->type == api::IpamType::kNone) continue;
    for (const Value::Member& member : *sysctls->as_object()) {
      std::string path = api::sysctl_path(member.key, "IFNAME");
      const bool accepts = path.starts_with("net/ipv6/conf/") &&
                           (path.ends_with("/accept_ra") || path.ends_with("/autoconf")) &&
                           member.value.as_string() != nullptr && *member.value.as_string() != "0";
      if (!accepts) continue;
      out.warning(member.key_span,
                  fmt::format("{} assigns addresses itself, and {} lets routers on the rail add an address "
                              "and a default route: the pod's traffic may leave through the rail",
                              network.label(), member.key))
          .with_fix(fmt::format("\"{}\": \"0\"", member.key));
    }
  }
}

constexpr Rule kAddressRules[] = {
    {"RB-ADDR-001", "a secondary network overlaps with the cluster's own networks", Needs::kNothing,
     cluster_is_reached},
    {"RB-ADDR-002", "a secondary network takes the pod's default route", Needs::kNothing, takes_default_route},
    {"RB-ADDR-003", "whereabouts hands its gateway out", Needs::kNothing, gateway_is_handed_out},
    {"RB-ADDR-004", "fewer addresses than the nodes have VFs", Needs::kFacts, too_few_for_nodes},
    {"RB-ADDR-005", "an address range that is full after few nodes", Needs::kNothing, full_after_few_nodes},
    {"RB-ADDR-006", "host-local addresses on several nodes", Needs::kNothing, host_local_on_many_nodes},
    {"RB-ADDR-007", "one static address for several pods", Needs::kNothing, static_for_many_pods},
    {"RB-ADDR-008", "dhcp addresses without the dhcp daemon", Needs::kNothing, dhcp_without_daemon},
    {"RB-ADDR-009", "two rails of a pod in one subnet", Needs::kNothing, one_subnet_twice},
    {"RB-ADDR-010", "a gateway outside of the network's addresses", Needs::kNothing, gateway_outside},
    {"RB-ADDR-011", "one range of whereabouts twice", Needs::kNothing, one_range_twice},
    {"RB-ADDR-012", "routers that configure a rail with addresses of its own", Needs::kNothing, routers_configure},
};

}  // namespace

std::span<const Rule> address_rules() {
  return kAddressRules;
}

}  // namespace railbed::check
