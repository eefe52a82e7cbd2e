// SPDX-License-Identifier: Apache-2.0
// The drawing at the top of the report: nodes with their pods, VFs and PFs, and the rails between them, as SVG.
//
// Why: "what was measured, through what?" is a picture, not a table. With `railbed status` of the nodes it shows pods
// and VFs; without, the interfaces that the measurements name.
// Threading: pure.
// Failure: none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/html_type.h"
#include "report/node_status.h"
#include "report/section.h"

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

Scene scene_of(const std::vector<MeasuredPath>& paths, const std::vector<NodeStatus>& nodes);
// `rail_texts` has what was measured on each rail; the others were not measured.
Html drawing(const Scene& scene, const std::map<std::string, std::string>& rail_texts);

}  // namespace railbed::report
