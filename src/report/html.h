// SPDX-License-Identifier: Apache-2.0
// The HTML report of measurements: one file, no network.
//
// Why: for the person who decides about or pays for the cluster. From top to bottom: a verdict in words, key figures
// per rail (RDMA next to TCP), a drawing of what was measured, bandwidth by size, latency over time and its
// distribution, tables, and the commands. Verdict, drawing and tables need no script; the charts are uPlot, inlined. It
// also shows a cluster's nodes, policies, networks and pods; a mesh's outliers and heat maps; jitter of each rail idle
// and under load; and of collectives the bandwidths by size and the slow participants. All external input (names,
// labels, addresses, commands) is escaped.
// Threading: pure.
// Failure: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/cluster.h"
#include "report/node_status.h"
#include "report/section.h"

namespace railbed::report {

struct Report {
  std::string title;
  std::vector<Section> sections = {};  // of a kind of results each (result_kinds.h), in the order of the page
  std::string results = {};            // as JSON, for who saves them from the page; "": there is nothing to save
  std::vector<NodeStatus> nodes = {};
  std::optional<Cluster> cluster = {};
};
std::string to_html(const Report& report);

}  // namespace railbed::report
