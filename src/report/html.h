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
#include <string_view>
#include <vector>

#include "doc/value.h"
#include "perf/collective/collective.h"
#include "perf/jitter/jitter_report.h"
#include "perf/measurement.h"
#include "report/cluster.h"
#include "report/mesh_page.h"
#include "report/node_status.h"

namespace railbed::report {

struct Report {
  std::string title;
  std::vector<perf::Measurement> measurements;
  std::vector<NodeStatus> nodes;
  std::optional<Cluster> cluster = {};
  std::vector<MeshPage> meshes = {};
  std::vector<perf::JitterReport> jitters = {};
  std::vector<perf::collective::CollectiveRun> collectives = {};
  std::vector<doc::Value> others = {};  // results of jitter and collectives as they were read, for who saves the page's
};
// What a page with results of several kinds saves, an object with a list of `results`; `perf report` reads it again.
inline constexpr std::string_view kSavedSchema = "railbed.results/v1";
std::string to_html(const Report& report);

}  // namespace railbed::report
