// SPDX-License-Identifier: Apache-2.0
// The HTML report of measurements: one file, no network.
//
// Why: for the person who decides about or pays for the cluster. From top to bottom: a verdict in words, big
// figures per rail (RDMA beside TCP), a drawing of what was measured, bandwidth by size, latency over time
// and its distribution, tables, and the commands. Verdict, drawing and tables need no script; the charts are
// uPlot, inlined. Of a cluster there are its nodes, policies, networks and pods, too; of a mesh who stands out, and
// heat maps; of jitter each rail idle and under load. Everything that comes from outside (names, labels, addresses,
// commands) is escaped. Threading: pure. Failure: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf/measurement.h"
#include "report/cluster.h"
#include "report/jitter_page.h"
#include "report/mesh_page.h"
#include "report/node_status.h"

namespace railbed::report {

struct Report {
  std::string title;
  std::vector<perf::Measurement> measurements;
  std::vector<NodeStatus> nodes;
  std::optional<Cluster> cluster = {};
  std::vector<MeshPage> meshes = {};
  std::vector<JitterPage> jitters = {};
};
std::string to_html(const Report& report);

}  // namespace railbed::report
