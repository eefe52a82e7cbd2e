// SPDX-License-Identifier: Apache-2.0
// The HTML report of measurements: one file, no network.
//
// Why: for the person who decides about or pays for the cluster. From top to bottom: a verdict in words, big
// figures per rail (RDMA beside TCP), a drawing of what was measured, bandwidth by size, latency over time
// and its distribution, tables, and the commands. Verdict, drawing and tables need no script; the charts are
// uPlot, inlined. Everything that comes from outside (names, labels, addresses, commands) is escaped.
// Threading: pure. Failure: node_from_status_json returns Code::kInvalid with the field's path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "perf/measurement.h"

namespace railbed::report {

// The part of `railbed status -o json` about one node that the drawing needs.
struct NodeStatus {
  struct Interface {
    std::string name, network, vf, pf, rdma, rail;
    bool soft = false;
    std::vector<std::string> addresses;
  };
  struct Pod {
    std::string name, space;  // space: the Kubernetes namespace
    std::vector<Interface> interfaces;
  };
  struct Vf {
    int index = 0;
    std::string pci, owner;  // owner: "" when free
  };
  struct Pf {
    std::string pci, name, rail;
    std::vector<Vf> vfs;
  };
  std::string name;
  std::vector<Pod> pods;
  std::vector<Pf> pfs;
};
Result<NodeStatus> node_from_status_json(std::string_view text);

struct Report {
  std::string title;
  std::vector<perf::Measurement> measurements;
  std::vector<NodeStatus> nodes;
};
std::string to_html(const Report& report);

}  // namespace railbed::report
