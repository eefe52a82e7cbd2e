// SPDX-License-Identifier: Apache-2.0
// Whether the pods of a node can get what their networks need.
#include <algorithm>
#include <set>

#include "base/format.h"
#include "graph/link_type.h"
#include "plan/plan.h"

namespace railbed::plan {
namespace {

struct Demand {
  int vfs = 0;
  std::set<std::string> pods;
  doc::Span span;  // of the first pod that asks for it
};

doc::Span span_of(const graph::PodNetwork& network) {
  return network.selection->name.span.known() ? network.selection->name.span : network.selection->span;
}

std::string list(const std::set<std::string>& names) {
  constexpr size_t kShown = 5;
  std::vector<std::string> shown(names.begin(), names.end());
  const size_t more = shown.size() > kShown ? shown.size() - kShown : 0;
  shown.resize(shown.size() - more);
  return fmt::format("{}{}", fmt::join(shown, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

// Networks of one link type on VFs of the other: without this check the attachment fails late and for no clear reason.
void check_link_type(const graph::PodNetwork& network, const graph::Graph& graph, const api::Pod& pod,
                     doc::Diagnostics& diagnostics) {
  const std::string& resource = network.network->resource;
  const graph::ResourceLink link = graph::link_of({.facts = graph::links_found(graph, resource)});
  const std::string& type = network.network->type;
  if (graph::link_conflict(type, link) == graph::LinkConflict::kNone) return;
  diagnostics
      .error("RB-POD-003", span_of(network),
             fmt::format("pod {}: network {} is of type {}, the VFs of {} are {}", pod.key(), network.key, type,
                         resource, link.infiniband ? "InfiniBand" : "Ethernet"))
      .with_fix(link.infiniband ? "use a SriovIBNetwork" : "use a SriovNetwork");
}

// A pod that requests extended resources itself must request as many as its networks need.
void check_requests(const graph::PodOnNode& here, const std::map<std::string, int>& needed,
                    doc::Diagnostics& diagnostics) {
  for (const auto& [resource, count] : needed) {
    auto asked = here.pod->resources.find(resource);
    if (asked == here.pod->resources.end() || asked->second >= count) continue;
    diagnostics
        .warning("RB-POD-006", here.pod->meta.name.span,
                 fmt::format("pod {} asks for {} of {}, its networks need {}", here.pod->key(), asked->second, resource,
                             count))
        .with_fix(fmt::format("{}: \"{}\"", resource, count));
  }
}

}  // namespace

void check_pods(const graph::Graph& graph, const NodePlan& plan, doc::Diagnostics& diagnostics) {
  std::map<std::string, Demand> demands;
  for (const graph::PodOnNode& here : graph.pods) {
    std::map<std::string, int> needed;
    std::set<std::string> seen;
    for (const graph::PodNetwork& network : here.networks) {
      if (network.network == nullptr || network.network->resource.empty()) continue;
      const std::string& resource = network.network->resource;
      ++needed[resource];
      Demand& demand = demands[resource];
      if (demand.vfs++ == 0) demand.span = span_of(network);
      demand.pods.insert(here.pod->key());
      auto pool = plan.resources.find(resource);
      const bool has_vfs = pool != plan.resources.end() && !pool->second.empty();
      if (has_vfs && seen.insert(network.key).second) check_link_type(network, graph, *here.pod, diagnostics);
    }
    check_requests(here, needed, diagnostics);
  }
  for (const auto& [resource, demand] : demands) {
    auto pool = plan.resources.find(resource);
    const auto there = pool == plan.resources.end() ? 0 : static_cast<int>(pool->second.size());
    if (demand.vfs <= there) continue;
    diagnostics
        .error("RB-POD-002", demand.span,
               there == 0
                   ? fmt::format("node {} has no VF of {}, which {} need{}", plan.node, resource, list(demand.pods),
                                 demand.pods.size() == 1 ? "s" : "")
                   : fmt::format("node {} has {} VF{} of {}, {} need{} {}", plan.node, there, there == 1 ? "" : "s",
                                 resource, list(demand.pods), demand.pods.size() == 1 ? "s" : "", demand.vfs))
        .with_fix(there == 0 ? "a policy with that resourceName that matches this node" : "more numVfs, or fewer pods");
  }
}

}  // namespace railbed::plan
