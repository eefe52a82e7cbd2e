// SPDX-License-Identifier: Apache-2.0
// The link type of a resource: are the ports behind it Ethernet or InfiniBand?
//
// Why: four sources say something about it, and each reader that chose its own came to its own answer: `check` advised
// an Ethernet MTU where `plan` refused it. The order is decided here, once, for check, plan and generate: what a
// machine reports, then what a policy demands, then what a device plugin selects, then what the names of interfaces
// suggest. Threading: pure functions over values. Failure: none; without any source the answer is unknown.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "facts/node_facts.h"
#include "graph/graph.h"

namespace railbed::graph {

// What is said about one resource; empty where a source says nothing.
struct LinkEvidence {
  std::vector<facts::LinkType> facts;          // of the ports, on nodes with facts
  std::vector<api::WantedLinkType> policies;   // linkType of the policies that make it
  std::vector<std::string_view> plugin_types;  // linkTypes of a device plugin's selector: "ether", "infiniband"
  std::vector<std::string_view> port_names;    // pfNames of selectors: "ibp60s0", "ens1f0np0"
};

// The weakest first, as they are compared.
enum class LinkSource : uint8_t { kNone, kNames, kDevicePlugin, kPolicy, kFacts };

struct ResourceLink {
  LinkSource source = LinkSource::kNone;
  bool ethernet = false;    // some port is
  bool infiniband = false;  // some port is

  bool all_ethernet() const { return ethernet && !infiniband; }
  bool all_infiniband() const { return infiniband && !ethernet; }
};

ResourceLink link_of(const LinkEvidence& evidence);

// The link types of the ports whose VFs `resource` has on this node; where it has none because its policies are
// refused, those of the ports that they select.
std::vector<facts::LinkType> links_found(const Graph& graph, std::string_view resource);

// Whether a policy of `resource` selects a port of this type on this node, refused or not.
bool is_on_link_type(const Graph& graph, std::string_view resource, facts::LinkType type);

// The link type that an interface's name suggests: "ibp60s0", "ib0"; "ens1f0", "eth2". Unknown for others.
facts::LinkType link_of_name(std::string_view name);

// Whether a network of this CNI type cannot work on such a resource: its plugin sets what the other link type lacks.
// Ports of both types are a conflict only where policies demand them.
enum class LinkConflict : uint8_t { kNone, kEthernetNetwork, kInfinibandNetwork };
LinkConflict link_conflict(std::string_view network_type, const ResourceLink& link);

}  // namespace railbed::graph
