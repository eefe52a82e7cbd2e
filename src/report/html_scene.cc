// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/html_drawing.h"

namespace railbed::report {
namespace {

std::string without_prefix(const std::string& address) {
  return address.substr(0, address.find('/'));
}

// The name of the rail in a measurement: better than the node's own ("rail0" instead of "ens1f0").
std::string rail_by_address(const std::vector<MeasuredPath>& paths, const std::vector<std::string>& addresses) {
  for (const MeasuredPath& path : paths)
    for (const std::string& address : addresses)
      if (without_prefix(address) == path.client.address || without_prefix(address) == path.server.address)
        if (!path.label.empty()) return path.label;
  return "";
}

size_t column_of(DrawnNode& node, const std::string& pf) {
  for (size_t i = 0; i < node.columns.size(); ++i)
    if (node.columns[i].detail == pf || node.columns[i].name == pf) return i;
  node.columns.push_back({.name = pf, .detail = "", .rail = "", .vfs = {}});
  return node.columns.size() - 1;
}

void add_pod(const std::vector<MeasuredPath>& paths, const NodeStatus::Pod& pod, DrawnNode& node) {
  DrawnPod drawn{.name = pod.space.empty() ? pod.name : pod.space + "/" + pod.name, .columns = {}};
  for (const NodeStatus::Interface& interface : pod.interfaces) {
    const size_t at = column_of(node, interface.pf.empty() ? interface.name : interface.pf);
    DrawnColumn& column = node.columns[at];
    if (drawn.columns.size() <= at) drawn.columns.resize(at + 1);
    DrawnInterface one{.name = interface.name,
                       .address = interface.addresses.empty() ? "" : without_prefix(interface.addresses[0]),
                       .device = interface.rdma,
                       .soft = interface.soft,
                       .vf_index = -1};
    for (const NodeStatus::Vf& vf : column.vfs)
      if (vf.pci == interface.vf && !vf.pci.empty()) one.vf_index = vf.index;
    drawn.columns[at].push_back(std::move(one));
    std::string rail = rail_by_address(paths, interface.addresses);
    if (rail.empty()) rail = interface.network.empty() ? interface.rail : interface.network;
    if (column.rail.empty()) column.rail = std::move(rail);
  }
  node.pods.push_back(std::move(drawn));
}

DrawnNode node_from_status(const std::vector<MeasuredPath>& paths, const NodeStatus& status) {
  DrawnNode node{.name = status.name, .columns = {}, .pods = {}};
  for (const NodeStatus::Pf& pf : status.pfs)
    node.columns.push_back({.name = pf.name, .detail = pf.pci, .rail = "", .vfs = pf.vfs});
  for (const NodeStatus::Pod& pod : status.pods) add_pod(paths, pod, node);
  for (DrawnPod& pod : node.pods) pod.columns.resize(node.columns.size());
  return node;
}

bool has_address(const std::vector<NodeStatus>& nodes, const std::string& address) {
  for (const NodeStatus& node : nodes)
    for (const NodeStatus::Pod& pod : node.pods)
      for (const NodeStatus::Interface& interface : pod.interfaces)
        for (const std::string& one : interface.addresses)
          if (without_prefix(one) == address) return true;
  return false;
}

// Adds a measured end that no status mentions: its interface becomes its own column.
void add_endpoint(const perf::Endpoint& end, const std::string& rail, Scene& scene) {
  auto node =
      std::find_if(scene.nodes.begin(), scene.nodes.end(), [&](const DrawnNode& n) { return n.name == end.hostname; });
  if (node == scene.nodes.end()) {
    scene.nodes.push_back({.name = end.hostname, .columns = {}, .pods = {}});
    node = std::prev(scene.nodes.end());
  }
  const std::string name = end.netdev.empty() ? end.address : end.netdev;
  for (DrawnColumn& column : node->columns)
    if (column.name == name) {
      if (!end.device.empty() && column.detail.find(end.device) == std::string::npos)
        column.detail += fmt::format(", {}{}", end.device, end.soft ? " (soft)" : "");
      return;
    }
  std::string detail = end.address;
  if (!end.device.empty()) detail += fmt::format(", {}{}", end.device, end.soft ? " (soft)" : "");
  node->columns.push_back({.name = name, .detail = std::move(detail), .rail = rail, .vfs = {}});
}

}  // namespace

Scene scene_of(const std::vector<MeasuredPath>& paths, const std::vector<NodeStatus>& nodes) {
  Scene scene;
  for (const NodeStatus& status : nodes) scene.nodes.push_back(node_from_status(paths, status));
  for (const MeasuredPath& path : paths)
    for (const perf::Endpoint* end : {&path.server, &path.client})
      if (!has_address(nodes, end->address)) add_endpoint(*end, path.rail, scene);
  std::sort(scene.nodes.begin(), scene.nodes.end(),
            [](const DrawnNode& a, const DrawnNode& b) { return a.name < b.name; });
  const auto add_rail = [&](const std::string& rail) {
    if (!rail.empty() && std::find(scene.rails.begin(), scene.rails.end(), rail) == scene.rails.end())
      scene.rails.push_back(rail);
  };
  // In the order of the measurements, then of the columns.
  for (const MeasuredPath& path : paths)
    for (const DrawnNode& node : scene.nodes)
      for (const DrawnColumn& column : node.columns)
        if (column.rail == path.rail) add_rail(column.rail);
  for (const DrawnNode& node : scene.nodes)
    for (const DrawnColumn& column : node.columns) add_rail(column.rail);
  for (DrawnNode& node : scene.nodes)
    for (DrawnPod& pod : node.pods) pod.columns.resize(node.columns.size());
  return scene;
}

}  // namespace railbed::report
