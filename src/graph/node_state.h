// SPDX-License-Identifier: Apache-2.0
// A graph as the spec of the node's SriovNetworkNodeState and back, and a node's facts as its status and back.
//
// Why: in a cluster the operator resolves policies against the facts in a node's status, and the node applies its spec.
// Both must produce what `up` would do there with the same policies: the property test compares the plans. What a
// status does not contain (the host's own addresses, whether there is an IOMMU) the node checks itself: its graph
// refuses on its own facts what the operator could not know.
// Threading: pure functions.
// Failure: findings and refusals, as in graph.h.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_state.h"
#include "api/wanted.h"
#include "drain/state.h"
#include "graph/graph.h"

namespace railbed::graph {

// What a node state orders beyond the schema of upstream is in annotations, and here is the only place that writes
// and reads them: kOrders, orders_of(), Orders. What is new goes into api::kWantedAnnotation, of which the prefix of
// resource names is the first member; the two others are older. PCI addresses, with commas between them, of PFs that
// may change although the host uses them (kAllowHostPf).
inline constexpr std::string_view kHostPfsAllowed = "railbed.dev/allow-host-pfs";
// The same for names of resources, without prefix, whose pods may send management datagrams (api::kMadAnnotation).
inline constexpr std::string_view kMadResources = "railbed.dev/mad-resources";
// The annotations that order something, as the spec does.
inline constexpr std::string_view kOrders[] = {kHostPfsAllowed, kMadResources, api::kWantedAnnotation,
                                               drain::kDrainAnnotation};

// spec.interfaces: the PFs with something in effect, by address.
std::vector<api::NodeStatePf> state_of(const Graph& graph);
// The values of kOrders that follow from policies, which is all but the drain; empty: the node state has no such
// annotation.
std::map<std::string_view, std::string> orders_of(const Graph& graph, const api::Wanted& wanted);

// The annotations of kOrders, read.
struct Orders {
  std::set<std::string, std::less<>> host_pfs;       // PCI addresses
  std::set<std::string, std::less<>> mad_resources;  // names without prefix
  std::optional<std::string> resource_prefix;        // nothing: the node state says none
  std::string problem;        // why api::kWantedAnnotation cannot be read; empty: it can, or is not there
  drain::NodeDrain drain;     // kIdle also where it cannot be read
  std::string drain_problem;  // why it cannot be read; empty: it can, or is not there
};
Orders orders_in(const api::Metadata& meta);

// status.interfaces: all NICs, by address.
std::vector<api::FoundNic> found_nics(const facts::NodeFacts& facts);
// What policies can be resolved against. `labels` are those of the Node object.
facts::NodeFacts facts_of(const api::SriovNetworkNodeState& state, std::map<std::string, std::string> labels);

// The graph of a node by its node state instead of policies. Resource names get the prefix that the node state says, or
// `options.resource_prefix` where it says none.
struct WantedState {
  // `facts` must outlive this.
  WantedState(const api::SriovNetworkNodeState& state, const facts::NodeFacts& facts, const Options& options,
              doc::Diagnostics& diagnostics);

  Graph graph;
};

}  // namespace railbed::graph
