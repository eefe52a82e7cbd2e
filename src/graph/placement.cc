// SPDX-License-Identifier: Apache-2.0
#include "graph/placement.h"

#include <utility>

#include "api/placement.h"
#include "base/format.h"
#include "graph/selector.h"

namespace railbed::graph {

std::optional<PlacementMismatch> placement_mismatch(const api::Pod& pod, const Graph& graph) {
  const bool named = !pod.node_name->empty();
  if (named && *pod.node_name != graph.facts->node)
    return PlacementMismatch{.why = fmt::format("it is for node {}", *pod.node_name)};
  if (!named) {
    std::string why = label_mismatch(pod.node_selector, graph.labels);
    if (why.empty()) why = api::affinity_mismatch(pod.placement.affinity, graph.labels, graph.facts->node);
    if (!why.empty()) return PlacementMismatch{.why = std::move(why)};
  }
  const api::Taint* taint =
      api::kept_off_by(graph.taints, pod.placement.tolerations, named ? api::Assigned::kYes : api::Assigned::kNo);
  if (taint == nullptr) return std::nullopt;
  return PlacementMismatch{.why = fmt::format("it does not tolerate the taint {}", api::to_string(*taint)),
                           .by_taint = true};
}

}  // namespace railbed::graph
