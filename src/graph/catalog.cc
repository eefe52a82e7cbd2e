// SPDX-License-Identifier: Apache-2.0
#include "graph/catalog.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "api/cluster_labels.h"
#include "api/load.h"
#include "base/format.h"
#include "graph/graph.h"
#include "graph/selector.h"

namespace railbed::graph {
namespace {

using doc::Diagnostics;

std::string key_of(const api::Metadata& meta) {
  return *meta.ns + "/" + *meta.name;
}

doc::Span span_of(const api::Metadata& meta) {
  return meta.name.span.known() ? meta.name.span : meta.span;
}

// Objects of one kind by key. Of two objects with one key the later one counts, as with kubectl apply.
template <typename T>
std::vector<const T*> latest(const std::vector<T>& objects, std::string_view kind, Diagnostics& diagnostics) {
  std::map<std::string, const T*> by_key;
  for (const T& object : objects) {
    auto [slot, fresh] = by_key.try_emplace(key_of(object.meta), &object);
    if (fresh) continue;
    diagnostics
        .warning("RB-OBJECT-001", span_of(object.meta),
                 fmt::format("{} {} is defined twice; this one counts", kind, slot->first))
        .note(span_of(slot->second->meta), "the other one is here")
        .with_fix("remove one of them, or give it another name");
    slot->second = &object;
  }
  std::vector<const T*> kept;
  for (const T& object : objects)
    if (by_key.at(key_of(object.meta)) == &object) kept.push_back(&object);
  return kept;
}

// Why no node can carry out this policy (also reported as a finding); empty when nodes can.
std::string refuse(const api::SriovNetworkNodePolicy& policy, Diagnostics& diagnostics) {
  const auto error = [&](std::string_view id, const doc::Span& span, std::string text, std::string fix,
                         doc::Audience audience = doc::Audience::kEveryone) {
    diagnostics.error(id, span.known() ? span : span_of(policy.meta), text).with_fix(std::move(fix)).audience =
        audience;
    return text;
  };
  constexpr auto kOneMachine = doc::Audience::kOneMachine;
  const api::NicSelector& selector = policy.nic_selector;
  if (!selector.net_filter->empty())
    return error("RB-POLICY-004", selector.net_filter.span,
                 "netFilter is for virtual machines whose NICs are VFs already; standalone railbed has "
                 "no metadata service to ask",
                 "select by vendor, deviceID, rootDevices or pfNames", kOneMachine);
  if (empty(selector))
    return error("RB-POLICY-003", selector.span, "an empty nicSelector matches nothing",
                 "name at least one of vendor, deviceID, rootDevices, pfNames");
  if (*policy.device_type == DeviceType::kVfioPci && *policy.is_rdma)
    return error("RB-POLICY-005", policy.is_rdma.span,
                 "isRdma requires the kernel's driver, which deviceType vfio-pci replaces",
                 "isRdma: false, or deviceType: netdevice");
  if (!policy.vdpa_type->empty())
    return error("RB-POLICY-007", policy.vdpa_type.span, "vdpaType is not supported by this version", "remove vdpaType",
                 kOneMachine);
  for (const auto& name : selector.pf_names)
    if (name->vfs && (name->vfs->first > name->vfs->last || name->vfs->last >= *policy.num_vfs))
      return error("RB-POLICY-006", name.span,
                   fmt::format("VFs {}-{} of {} are not within numVfs {}: VFs count from 0", name->vfs->first,
                               name->vfs->last, name->name, *policy.num_vfs),
                   name->vfs->first > name->vfs->last
                       ? fmt::format("{}#{}-{}", name->name, name->vfs->last, name->vfs->first)
                       : fmt::format("numVfs: {}", name->vfs->last + 1));
  return "";
}

void report_what_is_not_done(const api::SriovNetworkNodePolicy& policy, Diagnostics& diagnostics) {
  if (policy.bridge.present && !policy.bridge->is_null() && policy.bridge->as_object() &&
      !policy.bridge->as_object()->empty())
    diagnostics
        .warning("RB-POLICY-013", policy.bridge.span,
                 "bridge: this version does not create Open vSwitch bridges, only the VFs")
        .for_one_machine();
  if (*policy.need_vhost_net)
    diagnostics
        .note("RB-POLICY-014", policy.need_vhost_net.span,
              "needVhostNet needs a container runtime; standalone pods share the machine's /dev")
        .for_one_machine();
}

void report_management_datagrams(const api::SriovNetworkNodePolicy& policy, Diagnostics& diagnostics) {
  const auto asked = policy.meta.annotations.find(std::string(api::kMadAnnotation));
  if (asked == policy.meta.annotations.end()) return;
  const std::string* value = asked->second->as_string();
  if (value != nullptr && *value == "true")
    diagnostics.note("RB-POLICY-017", asked->second.span,
                     fmt::format("{}: pods of {} get /dev/infiniband/umadN: on an InfiniBand fabric without M_Key they "
                                 "can reconfigure it",
                                 api::kMadAnnotation, *policy.resource_name));
  else if (value == nullptr || *value != "false")
    diagnostics.warning("RB-POLICY-017", asked->second.span,
                        fmt::format("{}: neither \"true\" nor \"false\": pods of {} get no umad", api::kMadAnnotation,
                                    *policy.resource_name));
}

Policy entry(const api::SriovNetworkNodePolicy& policy, const Options& options, Diagnostics& diagnostics) {
  Policy result;
  result.object = &policy;
  result.key = key_of(policy.meta);
  result.group = group_of(policy, options.resource_prefix);
  const doc::Span& span = result.group.from->span;
  if (*policy.meta.name == "default") {
    result.ignored = true;
    result.problem = "the name \"default\" is reserved by the operator, which never applies such a policy";
    diagnostics.note("RB-POLICY-001", span, "policy default is ignored: " + result.problem)
        .with_fix("give it another name");
  } else if (*policy.num_vfs <= 0) {
    result.ignored = true;
    result.problem = "numVfs is 0: the operator skips such a policy and leaves the VFs unchanged";
    diagnostics.warning("RB-POLICY-002", policy.num_vfs.span.known() ? policy.num_vfs.span : span, result.problem)
        .with_fix("delete the policy and run railbed down to remove VFs");
  } else {
    result.problem = refuse(policy, diagnostics);
    report_what_is_not_done(policy, diagnostics);
    report_management_datagrams(policy, diagnostics);
  }
  return result;
}

bool wants_vf(std::string_view type) {
  return type == "sriov" || type == "ib-sriov";
}

// Whether the configuration itself has the address of the VF.
bool names_device(const api::NetworkAttachmentDefinition& definition) {
  const doc::Value& config = definition.config.plugins.front().config;
  return config.find("deviceID") != nullptr || config.find("pciBusID") != nullptr;
}

void add_network(Catalog& catalog, api::NetworkAttachmentDefinition definition, Diagnostics& diagnostics) {
  Network network;
  network.key = key_of(definition.meta);
  network.resource = *definition.resource_name;
  if (!definition.config.plugins.empty()) network.type = definition.config.plugins.front().type;
  if (network.resource.empty() && wants_vf(network.type) && !names_device(definition))
    diagnostics
        .warning("RB-NET-002", span_of(definition.meta),
                 fmt::format("network {} of type {} has no resource to take VFs from", network.key, network.type))
        .with_fix("annotation k8s.v1.cni.cncf.io/resourceName: " + catalog.options.resource_prefix + "/NAME")
        .that_says(doc::Says::kNoResource)
        .that_fails_where_applied();
  network.definition = std::move(definition);
  auto existing = catalog.networks.find(network.key);
  if (existing != catalog.networks.end())
    diagnostics
        .warning("RB-OBJECT-001", span_of(network.definition.meta),
                 fmt::format("network {} is defined twice; this one counts", network.key))
        .note(span_of(existing->second.definition.meta), "the other one is here")
        .with_fix("remove one of them, or give it another name");
  catalog.networks.insert_or_assign(network.key, std::move(network));
}

// Reports networks whose resource no policy provides: a wrong prefix and a misspelt name are the usual reasons.
void check_resources(const Catalog& catalog, Diagnostics& diagnostics) {
  std::set<std::string, std::less<>> made;
  for (const Policy& policy : catalog.policies)
    if (!policy.ignored) made.insert(policy.group.resource);
  if (made.empty()) return;
  for (const auto& [key, network] : catalog.networks) {
    if (network.resource.empty() || made.contains(network.resource)) continue;
    const auto base = network.resource.substr(network.resource.find('/') + 1);
    std::string near;
    for (const std::string& resource : made)
      if (resource.substr(resource.find('/') + 1) == base) near = resource;
    if (near.empty()) near = doc::nearest(network.resource, {made.begin(), made.end()});
    const api::NetworkAttachmentDefinition& definition = network.definition;
    auto& reported = diagnostics.warning(
        "RB-NET-001",
        definition.resource_name.span.known() ? doc::Span(definition.resource_name.span) : span_of(definition.meta),
        fmt::format("no policy creates resource {}, from which network {} takes its VFs", network.resource, key));
    reported.looks_for(network.resource).that_says(doc::Says::kMissingResource);
    if (!near.empty()) reported.with_fix("did you mean " + near + "?");
  }
}

void check_networks_of_pods(const Catalog& catalog, Diagnostics& diagnostics) {
  for (const api::Pod* pod : catalog.pods)
    for (const api::NetworkSelection& selection : pod->networks) {
      const std::string key = network_key(*pod, selection);
      if (catalog.networks.contains(key)) continue;
      std::vector<std::string_view> candidates;
      std::string elsewhere;
      for (const auto& [other, network] : catalog.networks) {
        candidates.push_back(other);
        if (*network.definition.meta.name == *selection.name) elsewhere = other;
      }
      auto& reported =
          diagnostics.error("RB-POD-001", selection.name.span.known() ? selection.name.span : selection.span,
                            fmt::format("pod {} requests network {}, which does not exist", pod->key(), key));
      reported.looks_for(key).that_says(doc::Says::kMissingNetwork);
      if (elsewhere.empty()) elsewhere = doc::nearest(key, candidates);
      if (!elsewhere.empty()) reported.with_fix("did you mean " + elsewhere + "?");
    }
}

}  // namespace

Catalog index(const api::Objects& objects, const Options& options, Diagnostics& diagnostics) {
  Catalog catalog;
  catalog.options = options;
  for (const auto* policy : latest(objects.policies, "policy", diagnostics))
    catalog.policies.push_back(entry(*policy, options, diagnostics));
  // Highest number first, then by name: a later policy wins, so the one with number 0 wins.
  std::ranges::stable_sort(catalog.policies, [](const Policy& a, const Policy& b) {
    return std::tuple(-*a.object->priority, *a.object->meta.name, *a.object->meta.ns) <
           std::tuple(-*b.object->priority, *b.object->meta.name, *b.object->meta.ns);
  });
  for (const auto& definition : objects.attachments) add_network(catalog, definition, diagnostics);
  for (const auto& network : objects.networks)
    add_network(catalog, api::render(network, options.resource_prefix), diagnostics);
  check_resources(catalog, diagnostics);
  catalog.pods = latest(objects.pods, "pod", diagnostics);
  check_networks_of_pods(catalog, diagnostics);
  for (const auto& node : objects.nodes) catalog.nodes.insert_or_assign(*node.meta.name, &node);
  return catalog;
}

}  // namespace railbed::graph
