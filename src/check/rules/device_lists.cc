// SPDX-License-Identifier: Apache-2.0
#include "check/rules/device_lists.h"

#include <algorithm>

#include "api/placement.h"
#include "base/well_known.h"
#include "check/rules/env_settings.h"
#include "facts/rails.h"
#include "graph/selector.h"

namespace railbed::check {
namespace {

// As fnmatch() with "*" and "?".
bool fits_pattern(std::string_view pattern, std::string_view text) {
  size_t star = std::string_view::npos;
  size_t resume = 0;
  size_t at = 0;
  for (size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace

bool DeviceList::Entry::takes(std::string_view device, int number) const {
  if (!port.empty() && port != "*" && port != std::to_string(number)) return false;
  if (pattern) return fits_pattern(name, device);
  return whole ? device == name : device.starts_with(name);
}

bool DeviceList::takes(std::string_view device, int number) const {
  if (all) return !exclude;
  const bool listed = std::ranges::any_of(entries, [&](const Entry& one) { return one.takes(device, number); });
  return listed != exclude;
}

DeviceList parse_device_list(std::string_view text, ListGrammar grammar) {
  DeviceList list{.grammar = grammar};
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (grammar != ListGrammar::kNames && text.starts_with('^')) {
    list.exclude = true;
    text.remove_prefix(1);
  }
  bool whole = grammar != ListGrammar::kNccl;
  if (grammar == ListGrammar::kNccl && text.starts_with('=')) {
    whole = true;
    text.remove_prefix(1);
  }
  for (std::string& part : comma_parts(text)) {
    if (grammar == ListGrammar::kUcx && part == "all") list.all = true;
    DeviceList::Entry entry{.whole = whole};
    if (part.starts_with('=')) {  // "=a,=b": what users write and mean
      entry.whole = true;
      part.erase(0, 1);
    }
    const size_t colon = part.find(':');
    entry.name = part.substr(0, colon);
    if (colon != std::string::npos) entry.port = part.substr(colon + 1, part.find(':', colon + 1) - colon - 1);
    entry.pattern = grammar == ListGrammar::kUcx && entry.name.find_first_of("*?") != std::string::npos;
    if (!entry.name.empty()) list.entries.push_back(std::move(entry));
  }
  return list;
}

std::vector<HostPort> ports_of(const facts::NodeFacts& node) {
  std::vector<HostPort> ports;
  const std::vector<facts::NicRole> roles = facts::roles_of(node);
  const auto add = [&](const facts::RdmaDevice& device, bool rail) {
    if (device.soft) return;
    for (const facts::RdmaPort& port : device.ports)
      ports.push_back({device.name, &port, rail, port.state.empty() || port.state == "ACTIVE"});
  };
  for (size_t i = 0; i < node.nics.size(); ++i)
    for (const facts::RdmaDevice& device : node.nics[i].rdma) add(device, roles[i].role == facts::Role::kCompute);
  for (const facts::RdmaDevice& device : node.virtual_rdma) add(device, false);
  return ports;
}

std::vector<std::string> interfaces_of(const facts::NodeFacts& node) {
  std::vector<std::string> names;
  const auto add = [&](const facts::NetInterface& netdev) {
    if (std::ranges::find(names, netdev.name) == names.end()) names.push_back(netdev.name);
  };
  for (const facts::Nic& nic : node.nics) {
    std::ranges::for_each(nic.netdevs, add);
    for (const facts::Vf& vf : nic.vfs)
      if (vf.netdev) add(*vf.netdev);
  }
  std::ranges::for_each(node.virtual_netdevs, add);
  return names;
}

std::vector<const graph::Graph*> nodes_for(const Input& in, const PodTemplate& pod) {
  std::vector<const graph::Graph*> nodes;
  const std::string_view name = text_at(*pod.spec, "nodeName");
  graph::Labels wanted;
  if (const doc::Value* selector = pod.spec->find("nodeSelector"); selector != nullptr && selector->is_object())
    for (const doc::Value::Member& member : *selector->as_object())
      if (const std::string* value = member.value.as_string()) wanted[member.key] = *value;
  const api::Placement placement = api::read_placement(*pod.spec);
  const auto admits = [&](const graph::Graph& graph) {
    if (!name.empty()) return name == graph.facts->node;
    return graph::labels_match(wanted, graph.labels) &&
           api::affinity_mismatch(placement.affinity, graph.labels, graph.facts->node).empty();
  };
  const auto assigned = name.empty() ? api::Assigned::kNo : api::Assigned::kYes;
  for (const graph::Graph& graph : in.graphs)
    if (admits(graph) && api::kept_off_by(graph.taints, placement.tolerations, assigned) == nullptr)
      nodes.push_back(&graph);
  return nodes;
}

bool must_run_on(const PodTemplate& pod, const graph::Graph& node) {
  if (pod.per_node) return true;
  if (text_at(*pod.spec, "nodeName") == node.facts->node) return true;
  const doc::Value* selector = pod.spec->find("nodeSelector");
  const doc::Value* host = selector == nullptr ? nullptr : selector->find(kHostnameLabel);
  const auto label = node.labels.find(kHostnameLabel);
  return host != nullptr && host->as_string() != nullptr && label != node.labels.end() &&
         *host->as_string() == label->second;
}

}  // namespace railbed::check
