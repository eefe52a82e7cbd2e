// SPDX-License-Identifier: Apache-2.0
#include "graph/link_type.h"

#include <algorithm>

#include "graph/selector.h"

namespace railbed::graph {
namespace {

void add(ResourceLink& link, facts::LinkType type) {
  link.ethernet = link.ethernet || type == facts::LinkType::kEthernet;
  link.infiniband = link.infiniband || type == facts::LinkType::kInfiniband;
}

facts::LinkType link_wanted(api::WantedLinkType wanted) {
  switch (wanted) {
    case api::WantedLinkType::kEthernet:
      return facts::LinkType::kEthernet;
    case api::WantedLinkType::kInfiniband:
      return facts::LinkType::kInfiniband;
    case api::WantedLinkType::kAny:
      break;
  }
  return facts::LinkType::kUnknown;
}

// The words of the device plugins' `linkTypes`.
facts::LinkType link_of_word(std::string_view word) {
  if (word == "ether" || word == "ethernet" || word == "Ethernet") return facts::LinkType::kEthernet;
  if (word == "infiniband" || word == "IB" || word == "ib") return facts::LinkType::kInfiniband;
  return facts::LinkType::kUnknown;
}

}  // namespace

facts::LinkType link_of_name(std::string_view name) {
  if (name.starts_with("ib")) return facts::LinkType::kInfiniband;
  if (name.starts_with("en") || name.starts_with("eth")) return facts::LinkType::kEthernet;
  return facts::LinkType::kUnknown;
}

ResourceLink link_of(const LinkEvidence& evidence) {
  ResourceLink link;
  const auto said = [&](LinkSource source, const auto& list, auto&& type_of) {
    for (const auto& one : list) add(link, type_of(one));
    link.source = link.ethernet || link.infiniband ? source : LinkSource::kNone;
    return link.source != LinkSource::kNone;
  };
  if (said(LinkSource::kFacts, evidence.facts, [](facts::LinkType type) { return type; })) return link;
  if (said(LinkSource::kPolicy, evidence.policies, link_wanted)) return link;
  if (said(LinkSource::kDevicePlugin, evidence.plugin_types, link_of_word)) return link;
  said(LinkSource::kNames, evidence.port_names, link_of_name);
  return link;
}

std::vector<facts::LinkType> links_found(const Graph& graph, std::string_view resource) {
  std::vector<facts::LinkType> found;
  for (const PfWanted& pf : graph.pfs)
    if (std::ranges::any_of(pf.groups, [&](const VfGroup& group) { return group.resource == resource; }))
      found.push_back(pf.nic->link_type);
  if (!found.empty()) return found;
  for (const Policy& policy : graph.catalog->policies) {
    if (policy.ignored || policy.group.resource != resource) continue;
    if (!labels_match(policy.object->node_selector, graph.labels)) continue;
    // A policy that demands a link type changes the port's, or is refused for it.
    const facts::LinkType wanted = link_wanted(*policy.object->link_type);
    for (const facts::Nic& nic : graph.facts->nics)
      if (can_have_vfs(nic) && selects(policy.object->nic_selector, nic) &&
          (wanted == facts::LinkType::kUnknown || wanted == nic.link_type))
        found.push_back(nic.link_type);
  }
  return found;
}

bool is_on_link_type(const Graph& graph, std::string_view resource, facts::LinkType type) {
  return std::ranges::any_of(graph.catalog->policies, [&](const Policy& policy) {
    if (policy.ignored || policy.group.resource != resource) return false;
    return labels_match(policy.object->node_selector, graph.labels) &&
           std::ranges::any_of(graph.facts->nics, [&](const facts::Nic& nic) {
             return nic.link_type == type && can_have_vfs(nic) && selects(policy.object->nic_selector, nic);
           });
  });
}

LinkConflict link_conflict(std::string_view network_type, const ResourceLink& link) {
  // Of policies of both kinds one is wrong: a pod gets a VF of either.
  const bool is_said = link.source == LinkSource::kPolicy;
  if (network_type == "sriov" && (is_said ? link.infiniband : link.all_infiniband()))
    return LinkConflict::kEthernetNetwork;
  if (network_type == "ib-sriov" && (is_said ? link.ethernet : link.all_ethernet()))
    return LinkConflict::kInfinibandNetwork;
  return LinkConflict::kNone;
}

}  // namespace railbed::graph
