// SPDX-License-Identifier: Apache-2.0
#include "check/rules/lookups.h"

#include <algorithm>
#include <iterator>

#include "base/well_known.h"
#include "doc/json.h"
#include "doc/text.h"
#include "facts/gpu_vendors.h"

namespace railbed::check {

using doc::Value;

std::vector<Word> texts_at(const Value& value, std::string_view path) {
  std::vector<Word> texts;
  const auto add = [&](const Value& item) {
    if (const std::string* text = item.as_string()) texts.push_back({*text, item.span});
  };
  const Value* found = at(value, path);
  if (found == nullptr) return texts;
  if (const Value::Array* items = found->as_array())
    std::ranges::for_each(*items, add);
  else
    add(*found);
  return texts;
}

doc::Span key_span(const Value& value, std::string_view path) {
  const size_t dot = path.rfind('.');
  const Value* parent = dot == std::string_view::npos ? &value : at(value, path.substr(0, dot));
  const std::string_view key = dot == std::string_view::npos ? path : path.substr(dot + 1);
  const Value::Object* members = parent == nullptr ? nullptr : parent->as_object();
  if (members == nullptr) return {};
  const auto found = std::ranges::find(*members, key, &Value::Member::key);
  return found == members->end() ? doc::Span() : found->key_span;
}

doc::Span name_span(const Document& document) {
  const Value* name = at(document.value, "metadata.name");
  return name != nullptr && name->span.known() ? name->span : document.value.span;
}

doc::Span inside(const Value& text, std::string_view word) {
  const doc::Span& span = text.span;
  if (!span.known() || text.as_string() == nullptr) return span;
  const std::string_view rest = std::string_view(span.source->text).substr(span.offset);
  // The written text can be longer than the value, because it is indented.
  const size_t found = rest.substr(0, text.as_string()->size() * 4 + 256).find(word);
  if (found == std::string_view::npos) return span;
  return doc::LineIndex(span.source).at(span.offset + found, word.size());
}

bool has_kind(const Bundle& bundle, std::string_view kind) {
  return std::ranges::find(bundle.documents, kind, &Document::kind) != bundle.documents.end();
}

bool is_openshift(const Bundle& bundle) {
  return std::ranges::any_of(bundle.documents, [](const Document& one) {
    return one.ns.starts_with("openshift-") || (one.api_version.find(".openshift.io/") != std::string::npos &&
                                                !one.api_version.starts_with("sriovnetwork."));
  });
}

std::string_view base_name(std::string_view resource) {
  return resource.substr(resource.rfind('/') + 1);
}

const Value* NetworkView::plugin(std::string_view wanted) const {
  for (const Value& one : plugins)
    if (text_at(one, "type") == wanted) return &one;
  return nullptr;
}

int64_t PodView::networks_with(std::string_view resource) const {
  return std::ranges::count_if(
      networks, [&](const Net& net) { return net.network != nullptr && net.network->resource == resource; });
}

const NetworkView* Views::network(std::string_view key) const {
  const auto found = network_by_key.find(key);
  return found == network_by_key.end() ? nullptr : &networks[found->second];
}

std::span<const PoolPart> Views::pool(std::string_view resource) const {
  const auto found = pools.find(resource);
  if (found == pools.end()) return {};
  return found->second;
}

const Producer* Views::producer(std::string_view resource) const {
  const auto found = by_resource.find(resource);
  return found == by_resource.end() ? nullptr : &producers[found->second.front()];
}

std::vector<const PolicyView*> Views::policies_of(std::string_view resource) const {
  std::vector<const PolicyView*> found;
  const auto indices = makers.find(resource);
  if (indices == makers.end()) return found;
  for (const size_t index : indices->second) found.push_back(&policies[index]);
  return found;
}

std::vector<const PolicyView*> Views::policies_of(const NetworkView& network) const {
  std::vector<const PolicyView*> all = policies_of(network.resource);
  if (network.document == nullptr) return all;
  return nearest_to(ties, *network.document, std::move(all), [](const PolicyView* policy) { return policy->document; });
}

namespace {

// Whether a device plugin's entry selects only devices with RDMA.
bool selects_rdma(const Producer& producer) {
  const Value* selectors = producer.entry.find("selectors");
  if (selectors == nullptr) return false;
  if (const Value::Array* items = selectors->as_array())
    return std::ranges::any_of(*items, [](const Value& one) { return flag_at(one, "isRdma").value_or(false); });
  return flag_at(*selectors, "isRdma").value_or(false);
}

}  // namespace

graph::ResourceLink Views::link(std::string_view resource) const {
  const auto found = links.find(resource);
  return found == links.end() ? graph::ResourceLink() : found->second;
}

bool Views::roce(const NetworkView& network) const {
  return !network.infiniband() && !link(network.resource).infiniband && rdma(network);
}

bool Views::rdma(const NetworkView& network) const {
  if (network.infiniband()) return true;
  if (network.type != "sriov" && network.type != "host-device") return false;
  for (const Producer& producer : producers)
    if (producer.by == Producer::By::kSriovPlugin && producer.resource == network.resource && selects_rdma(producer))
      return true;
  return std::ranges::any_of(policies_of(network), &PolicyView::rdma);
}

namespace {

// The prefix of the Network Operator for the resourceName of a HostDeviceNetwork.
constexpr std::string_view kNetworkOperatorPrefix = "nvidia.com/";

PolicyView policy_view(const Document& document, const Settings& settings) {
  static const Value kNothing = Value::object();
  PolicyView view{.document = &document, .spec = document.value.find("spec")};
  if (view.spec == nullptr || !view.spec->is_object()) view.spec = &kNothing;
  if (const Value* name = view.spec->find("resourceName")) {
    view.resource_span = name->span;
    if (name->as_string()) view.resource = resource_prefix(document, settings) + "/" + *name->as_string();
  }
  view.link_type = lower(text_at(*view.spec, "linkType"));
  view.rdma = flag_at(*view.spec, "isRdma").value_or(false) ||
              flag_at(*view.spec, "nicSelector.isRdma").value_or(false) ||
              (view.link_type == "ib" && text_at(*view.spec, "deviceType") != "vfio-pci");
  view.ignored = document.name == "default" || integer_at(*view.spec, "numVfs") == 0;
  return view;
}

void add_plugins(const Value& list, std::vector<Value>& out) {
  if (const Value::Array* items = list.as_array())
    for (const Value& item : *items)
      if (item.is_object()) out.push_back(item);
}

std::optional<Value> embedded(const Value* text) {
  doc::Diagnostics reported_elsewhere;
  if (text == nullptr) return std::nullopt;
  if (text->is_object()) return *text;
  if (!text->is_string()) return std::nullopt;
  return doc::parse_embedded_json(*text, reported_elsewhere);
}

void read_definition(const Document& document, NetworkView& view) {
  if (const auto config = embedded(at(document.value, "spec.config"))) {
    if (const Value* plugins = config->find("plugins"))
      add_plugins(*plugins, view.plugins);
    else
      view.plugins.push_back(*config);
  }
  const Value* annotations = at(document.value, "metadata.annotations");
  const Value* resource = annotations == nullptr ? nullptr : annotations->find(kResourceAnnotation);
  if (resource != nullptr && resource->as_string() != nullptr) {
    view.resource = *resource->as_string();
    view.resource_span = resource->span;
  }
  for (const Value& plugin : view.plugins)
    if (const Value* ipam = plugin.find("ipam"); ipam != nullptr && ipam->is_object()) {
      view.ipam = *ipam;
      break;
    }
}

// SriovNetwork and the like: the fields of the spec become those of a plugin of type `type`.
void read_network(const Document& document, std::string_view type, std::string_view prefix, NetworkView& view) {
  const Value* spec = document.value.find("spec");
  if (spec == nullptr) return;
  Value plugin = *spec;
  if (plugin.is_object()) plugin.set("type", type);
  if (auto capabilities = embedded(spec->find("capabilities"))) plugin.set("capabilities", std::move(*capabilities));
  view.plugins.push_back(std::move(plugin));
  view.ipam_text = spec->find("ipam");
  if (auto ipam = embedded(view.ipam_text)) view.ipam = std::move(*ipam);
  if (const Value* meta = spec->find("metaPlugins"); meta != nullptr && meta->is_string()) {
    doc::Diagnostics reported_elsewhere;
    if (const auto plugins = doc::parse_embedded_json_list(*meta, reported_elsewhere))
      add_plugins(*plugins, view.plugins);
  }
  const Value* resource = spec->find("resourceName");
  if (resource != nullptr && resource->as_string() != nullptr) {
    view.resource_span = resource->span;
    view.resource = resource->as_string()->starts_with(prefix) ? *resource->as_string()
                                                               : std::string(prefix) + *resource->as_string();
  }
}

// The addresses between the bounds of a whereabouts block that was refused for its prefix: their number still counts.
std::optional<api::IpamConfig> bounds_of(const Value& ipam) {
  if (text_at(ipam, "type") != "whereabouts") return std::nullopt;
  const auto subnet = IpPrefix::parse(text_at(ipam, "range"));
  const auto first = IpAddress::parse(text_at(ipam, "range_start"));
  const auto last = IpAddress::parse(text_at(ipam, "range_end"));
  if (!subnet || !first || !last || first->family != last->family || *last < *first) return std::nullopt;
  api::IpamConfig config{.type = api::IpamType::kWhereabouts, .span = ipam.span};
  config.range_sets = {{{.subnet = *subnet, .addresses = {*first, *last}, .span = ipam.span}}};
  return config;
}

std::optional<NetworkView> network_view(const Document& document, const Settings& settings) {
  struct Row {
    std::string_view kind, type;
    bool sriov;
  };
  static constexpr Row kRows[] = {{"SriovNetwork", "sriov", true},      {"SriovIBNetwork", "ib-sriov", true},
                                  {"OVSNetwork", "ovs", true},          {"HostDeviceNetwork", "host-device", false},
                                  {"MacvlanNetwork", "macvlan", false}, {"IPoIBNetwork", "ipoib", false}};
  NetworkView view{.document = &document};
  std::string ns = document.ns;
  if (document.kind == "NetworkAttachmentDefinition") {
    read_definition(document, view);
  } else {
    const auto row = std::ranges::find(kRows, document.kind, &Row::kind);
    if (row == std::end(kRows)) return std::nullopt;
    read_network(document, row->type,
                 row->sriov ? resource_prefix(document, settings) + "/" : std::string(kNetworkOperatorPrefix), view);
    const std::string_view target = text_at(document.value, "spec.networkNamespace");
    if (!target.empty()) ns = target;
  }
  view.key = ns + "/" + document.name;
  if (!view.plugins.empty()) view.type = text_at(view.plugins.front(), "type");
  if (view.ipam.is_object()) {
    doc::Diagnostics reported_elsewhere;
    view.addresses = api::parse_ipam(view.ipam, reported_elsewhere);
    if (!view.addresses) view.addresses = bounds_of(view.ipam);
  }
  return view;
}

// A device plugin's configuration: {"resourceList": […]} or {"configList": […]}.
void add_plugin_config(const Document& document, const Value* text, Producer::By by, Views& views) {
  const auto config = embedded(text);
  if (!config) return;
  const bool shared = by == Producer::By::kSharedPlugin;
  const Value* list = config->find(shared ? "configList" : "resourceList");
  if (list == nullptr || !list->is_array()) return;
  for (const Value& entry : *list->as_array()) {
    const Value* name = entry.find("resourceName");
    if (name == nullptr || name->as_string() == nullptr) continue;
    std::string_view prefix = text_at(entry, "resourcePrefix");
    if (prefix.empty()) prefix = shared ? "rdma" : "intel.com";  // the plugins' defaults
    views.producers.push_back({.by = by,
                               .resource = fmt::format("{}/{}", prefix, *name->as_string()),
                               .span = name->span,
                               .document = &document,
                               .entry = entry});
  }
}

void add_producers(const Document& document, Views& views) {
  using By = Producer::By;
  if (document.kind == "DeviceClass") {
    const Value* name = at(document.value, "spec.extendedResourceName");
    if (name != nullptr && name->as_string() != nullptr && !name->as_string()->empty())
      views.producers.push_back(
          {.by = By::kDeviceClass, .resource = *name->as_string(), .span = name->span, .document = &document});
    return;
  }
  if (document.kind == "NicClusterPolicy" || document.kind == "NicNodePolicy") {
    add_plugin_config(document, at(document.value, "spec.sriovDevicePlugin.config"), By::kSriovPlugin, views);
    add_plugin_config(document, at(document.value, "spec.rdmaSharedDevicePlugin.config"), By::kSharedPlugin, views);
  } else if (document.kind == "ConfigMap") {
    const Value* data = document.value.find("data");
    if (data == nullptr || !data->is_object()) return;
    for (const Value::Member& member : *data->as_object()) {
      const std::string* text = member.value.as_string();
      if (text == nullptr) continue;
      if (text->find("\"resourceList\"") != std::string::npos)
        add_plugin_config(document, &member.value, By::kSriovPlugin, views);
      else if (text->find("\"configList\"") != std::string::npos)
        add_plugin_config(document, &member.value, By::kSharedPlugin, views);
    }
  }
}

// The network of a key: of several the one that belongs to the pod. Without any the only one of its name will do; other
// rules report its namespace.
const NetworkView* network_for(const Views& views, const PodTemplate& pod, const std::string& key,
                               const std::string& name) {
  const auto [begin, end] = views.networks_by_name.equal_range(name);
  const NetworkView* first = nullptr;
  for (auto it = begin; it != end; ++it) {
    const NetworkView& network = views.networks[it->second];
    if (network.key != key) continue;
    if (belong_together(views.ties, *pod.document, *network.document)) return &network;
    if (first == nullptr) first = &network;
  }
  const bool only_one = begin != end && std::next(begin) == end;
  return first == nullptr && only_one ? &views.networks[begin->second] : first;
}

void add_pod(const PodTemplate& pod, Views& views) {
  PodView view{.pod = &pod};
  const size_t networks = pod.host_network() ? 0 : pod.networks.size();
  for (size_t i = 0; i < networks; ++i) {
    const api::NetworkSelection& selection = pod.networks[i];
    PodView::Net net{.selection = &selection};
    net.key = fmt::format("{}/{}", selection.ns->empty() ? pod.document->ns : *selection.ns, *selection.name);
    net.interface = selection.interface->empty() ? fmt::format("net{}", i + 1) : *selection.interface;
    net.network = network_for(views, pod, net.key, *selection.name);
    if (net.network != nullptr && !net.network->resource.empty() &&
        std::ranges::find(view.resources, net.network->resource) == view.resources.end())
      view.resources.push_back(net.network->resource);
    if (net.network != nullptr) {
      auto& users = views.networks[static_cast<size_t>(net.network - views.networks.data())].users;
      if (users.empty() || users.back() != views.pods.size()) users.push_back(views.pods.size());
    }
    view.networks.push_back(std::move(net));
  }
  views.pods.push_back(std::move(view));
}

// The words of a plugin's selectors under a key.
void add_selected(const Producer& producer, std::string_view key, std::vector<std::string>& out) {
  const Value* selectors = producer.entry.find("selectors");
  if (selectors == nullptr) return;
  const auto add = [&](const Value& one) {
    for (Word& word : texts_at(one, key)) out.push_back(std::move(word.text));
  };
  if (const Value::Array* items = selectors->as_array())
    std::ranges::for_each(*items, add);
  else
    add(*selectors);
}

bool lists(const std::vector<std::string>& words, std::string_view wanted) {
  return std::ranges::any_of(words,
                             [&](const std::string& one) { return lower(one.substr(0, one.find('#'))) == wanted; });
}

// Whether a device plugin's selectors take this port, or VFs of it, as far as they say which card or interface.
bool plugin_selects(const Producer& producer, const facts::Nic& nic) {
  struct Condition {
    std::string_view key;
    std::vector<std::string> values;  // of the port, in small letters
  };
  std::vector<std::string> names;
  for (const facts::NetInterface& netdev : nic.netdevs) names.push_back(lower(netdev.name));
  std::vector<std::string> addresses = {nic.pci.address.to_string()};
  for (const facts::Vf& vf : nic.vfs) addresses.push_back(vf.pci.address.to_string());
  const Condition conditions[] = {{"vendors", {lower(nic.pci.vendor)}},
                                  {"deviceIDs", {lower(nic.pci.device), lower(nic.vf_device)}},
                                  {"devices", {lower(nic.pci.device), lower(nic.vf_device)}},
                                  {"drivers", {lower(nic.pci.driver)}},
                                  {"ifNames", names},
                                  {"pfNames", names},
                                  {"rootDevices", {nic.pci.address.to_string()}},
                                  {"pciAddresses", addresses}};
  bool any = false;
  for (const Condition& condition : conditions) {
    std::vector<std::string> wanted;
    add_selected(producer, condition.key, wanted);
    if (wanted.empty()) continue;
    any = true;
    if (std::ranges::none_of(condition.values, [&](const std::string& one) { return lists(wanted, one); }))
      return false;
  }
  return any;
}

api::WantedLinkType wanted_link(const PolicyView& policy) {
  if (policy.link_type == "ib") return api::WantedLinkType::kInfiniband;
  return policy.link_type == "eth" ? api::WantedLinkType::kEthernet : api::WantedLinkType::kAny;
}

graph::ResourceLink link_of_resource(const Views& views, std::string_view resource,
                                     std::span<const graph::Graph> graphs) {
  graph::LinkEvidence evidence;
  std::vector<std::string> types;
  std::vector<std::string> names;
  for (const graph::Graph& graph : graphs)
    for (const facts::LinkType type : graph::links_found(graph, resource)) evidence.facts.push_back(type);
  for (const PolicyView* policy : views.policies_of(resource)) {
    evidence.policies.push_back(wanted_link(*policy));
    for (const Word& name : texts_at(*policy->spec, "nicSelector.pfNames")) names.push_back(name.text);
  }
  for (const size_t index : views.by_resource.find(resource)->second) {
    const Producer& producer = views.producers[index];
    add_selected(producer, "linkTypes", types);
    for (const std::string_view key : {"pfNames", "ifNames"}) add_selected(producer, key, names);
    // What its linkTypes leave out is not the resource's, whatever card it is on.
    if (!types.empty() || producer.by == Producer::By::kPolicy) continue;
    for (const graph::Graph& graph : graphs)
      for (const facts::Nic& nic : graph.facts->nics)
        if (plugin_selects(producer, nic)) evidence.facts.push_back(nic.link_type);
  }
  evidence.plugin_types.assign(types.begin(), types.end());
  evidence.port_names.assign(names.begin(), names.end());
  return graph::link_of(evidence);
}

}  // namespace

namespace {

// What the files around an object say.
std::optional<std::string> said_prefix(const Document& document, const Settings& settings) {
  const doc::SourcePtr& source = document.value.span.source;
  if (settings.world == nullptr || source == nullptr || settings.world->prefixes.empty()) return std::nullopt;
  return operators_prefix(settings.world->prefixes, source->name, settings.world->kustomizations);
}

// What they say of all policies; nullopt: nothing of one of them, or different things.
std::optional<std::string> said_of_all_policies(const Bundle& bundle, const Settings& settings) {
  std::optional<std::string> all;
  for (const Document& document : bundle.documents) {
    if (document.kind != "SriovNetworkNodePolicy") continue;
    const auto one = said_prefix(document, settings);
    if (!one || (all && *all != *one)) return std::nullopt;
    all = one;
  }
  return all;
}

}  // namespace

std::string resource_prefix(const Document& document, const Settings& settings) {
  const std::string& said = settings.graph.resource_prefix;
  return settings.prefix_is_given ? said : said_prefix(document, settings).value_or(said);
}

bool is_prefix_known(const Document& policy, const Settings& settings) {
  if (settings.prefix_is_given || settings.world == nullptr || said_prefix(policy, settings)) return true;
  // By the namespace of policies, or objects of Spiderpool.
  const bool by_others = settings.graph.resource_prefix != graph::Options().resource_prefix;
  return by_others || policy.ns.starts_with("openshift-");
}

std::string resource_prefix(const Bundle& bundle, const Settings& settings) {
  const std::string& said = settings.graph.resource_prefix;
  if (said != graph::Options().resource_prefix) return said;
  if (auto prefix = said_of_all_policies(bundle, settings)) return *prefix;
  // The chart that brings these objects brings the SR-IOV operator with this prefix.
  if (std::ranges::any_of(bundle.documents, [](const Document& document) {
        return document.api_version.starts_with("spiderpool.spidernet.io/");
      }))
    return "spidernet.io";
  bool network_operator = false;
  for (const Document& document : bundle.documents) {
    // The bundle also has its own device plugin, so either prefix may be right.
    if (document.kind == "NicClusterPolicy" && at(document.value, "spec.sriovDevicePlugin") != nullptr) return said;
    if (document.kind != "SriovNetworkNodePolicy") continue;
    if (document.ns != "nvidia-network-operator" && document.ns != "network-operator") return said;
    network_operator = true;
  }
  return network_operator ? "nvidia.com" : said;
}

Views make_views(const Bundle& bundle, std::span<const PodTemplate> pods, std::span<const graph::Graph> graphs,
                 const Settings& settings) {
  Views views;
  views.ties = Ties(settings);
  for (const Document& document : bundle.documents) {
    if (document.kind == "SriovNetworkNodePolicy") {
      views.policies.push_back(policy_view(document, settings));
      const PolicyView& policy = views.policies.back();
      if (policy.ignored || policy.resource.empty()) continue;
      views.makers[policy.resource].push_back(views.policies.size() - 1);
      views.producers.push_back({.resource = policy.resource, .span = policy.resource_span, .document = &document});
    } else if (auto network = network_view(document, settings)) {
      views.network_by_key.emplace(network->key, views.networks.size());
      views.networks_by_name.emplace(document.name, views.networks.size());
      views.networks.push_back(std::move(*network));
    } else {
      add_producers(document, views);
    }
  }
  for (size_t i = 0; i < views.producers.size(); ++i) {
    views.by_resource[views.producers[i].resource].push_back(i);
    views.by_base_name[std::string(base_name(views.producers[i].resource))].push_back(i);
  }
  for (const auto& [resource, indices] : views.by_resource)
    views.links.emplace(resource, link_of_resource(views, resource, graphs));
  for (const PodTemplate& pod : pods) add_pod(pod, views);
  for (const graph::Graph& graph : graphs)
    for (const graph::PfWanted& pf : graph.pfs)
      for (const graph::VfGroup& group : pf.groups) {
        int vfs = 0;
        for (const graph::VfRange& range : group.vfs) vfs += range.count();
        views.pools[group.resource].push_back({&graph, &pf, &group, vfs});
      }
  return views;
}

int64_t gpus_of(const PodTemplate& pod) {
  constexpr int64_t kMost = 1024;  // more than any node has
  int64_t gpus = pod.resource_count("gpu.intel.com/i915");
  for (const facts::GpuVendor& vendor : facts::gpu_vendors()) gpus += pod.resource_count(vendor.resource);
  return std::min(gpus, kMost);
}

}  // namespace railbed::check
