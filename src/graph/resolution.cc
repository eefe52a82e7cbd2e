// SPDX-License-Identifier: Apache-2.0
#include "graph/resolution.h"

namespace railbed::graph {

Resolution::Resolution(const api::Objects& all, std::span<const facts::NodeFacts> facts, const Options& options,
                       PodPlacement placement, doc::Diagnostics& diagnostics)
    : objects(all), nodes(facts), catalog(index(all, options, diagnostics)) {
  graphs.reserve(nodes.size());
  for (const facts::NodeFacts& node : nodes) graphs.push_back(resolve(catalog, node, diagnostics));
  if (placement == PodPlacement::kChecked)
    check_across(graphs, diagnostics);
  else
    check_policies_across(graphs, diagnostics);
}

}  // namespace railbed::graph
