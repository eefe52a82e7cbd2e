// SPDX-License-Identifier: Apache-2.0
// The drawing at the top of the report: nodes with their pods, VFs and PFs, and the rails between them, as SVG.
//
// Why: "what was measured, through what?" is a picture, not a table. With `railbed status` of the nodes it shows pods
// and VFs; without, the interfaces that the measurements name.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "report/html.h"
#include "report/html_summary.h"

namespace railbed::report {

// The contents of the drawing, in columns: one per PF (or interface) of a node.
struct DrawnInterface {
  std::string name;     // "net1"
  std::string address;  // the first one
  std::string device;   // the RDMA device
  bool soft = false;
  int vf_index = -1;  // on the PF of its column
};
struct DrawnPod {
  std::string name;
  std::vector<std::vector<DrawnInterface>> columns;  // as many as the node has columns
};
struct DrawnColumn {
  std::string name;  // PF or interface
  std::string detail;
  std::string rail;  // "" when it carries none
  std::vector<NodeStatus::Vf> vfs;
};
struct DrawnNode {
  std::string name;
  std::vector<DrawnColumn> columns;
  std::vector<DrawnPod> pods;
};
struct Scene {
  std::vector<DrawnNode> nodes;
  std::vector<std::string> rails;
};

Scene scene_of(const Report& report);
std::string drawing(const Scene& scene, const std::vector<RailFigures>& figures);

}  // namespace railbed::report
