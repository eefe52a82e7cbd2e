// SPDX-License-Identifier: Apache-2.0
#include "report/cluster_pods.h"

#include <algorithm>
#include <set>

#include "api/attachment.h"
#include "api/pod.h"
#include "base/well_known.h"
#include "doc/fields.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::report {
namespace {

using doc::Value;

// "whereabouts 10.10.0.0/24"
std::string addresses_text(const api::NetworkConfig& config) {
  for (const api::Plugin& plugin : config.plugins) {
    const Value* ipam = doc::object_in(plugin.config, "ipam");
    if (ipam == nullptr) continue;
    std::string text = doc::text_in(*ipam, "type");
    for (const std::string_view key : {"range", "subnet"})
      if (const std::string range = doc::text_in(*ipam, key); !range.empty()) text += " " + range;
    for (const std::string_view list : {"ipRanges", "addresses"})
      if (const Value::Array* items = doc::list_in(*ipam, list))
        for (const Value& one : *items) text += " " + doc::text_in(one, list == "addresses" ? "address" : "range");
    if (const Value::Array* sets = doc::list_in(*ipam, "ranges"))
      for (const Value& set : *sets)
        if (set.is_array())
          for (const Value& one : *set.as_array()) text += " " + doc::text_in(one, "subnet");
    return text;
  }
  return "";
}

// The annotation's array; null where there is none that can be read.
Value status_of(const api::Pod& pod) {
  const auto found = pod.meta.annotations.find(std::string(kNetworkStatusAnnotation));
  if (found == pod.meta.annotations.end() || !found->second->is_string()) return {};
  doc::Diagnostics unread;
  auto status = doc::parse_embedded_json(*found->second, unread);
  return status && status->is_array() ? std::move(*status) : Value();
}

ClusterInterface interface_of(const Value& element) {
  ClusterInterface out{.name = doc::text_in(element, "interface"),
                       .network = doc::text_in(element, "name"),
                       .vf = "",
                       .rdma = "",
                       .addresses = doc::texts_in(element, "ips")};
  const Value* device = doc::object_in(element, "device-info");
  const Value* pci = device != nullptr ? doc::object_in(*device, "pci") : nullptr;
  if (pci != nullptr) {
    out.vf = doc::text_in(*pci, "pci-address");
    out.rdma = doc::text_in(*pci, "rdma-device");
  }
  return out;
}

// The networks of which the pod has fewer interfaces than it asks for.
std::vector<std::string> missing_of(const api::Pod& pod, const std::vector<ClusterInterface>& attached) {
  std::multiset<std::string> there;
  for (const ClusterInterface& one : attached) there.insert(one.network);
  std::vector<std::string> missing;
  for (const api::NetworkSelection& asked : pod.networks) {
    std::string name = fmt::format("{}/{}", asked.ns.present ? *asked.ns : *pod.meta.ns, *asked.name);
    if (const auto found = there.find(name); found != there.end())
      there.erase(found);
    else
      missing.push_back(std::move(name));
  }
  return missing;
}

std::optional<ClusterPod> pod_of(const Value& object) {
  doc::Diagnostics found;
  const api::Pod pod =
      api::read_pod(object, found);  // the API server has compared its fields, also newer ones than ours
  if (found.has_errors()) return std::nullopt;
  const Value* status = doc::object_in(object, "status");
  ClusterPod out{.ns = *pod.meta.ns,
                 .name = *pod.meta.name,
                 .node = *pod.node_name,
                 .phase = status != nullptr ? doc::text_in(*status, "phase") : "",
                 .interfaces = {},
                 .missing = {}};
  const bool ended = out.phase == "Succeeded" || out.phase == "Failed";
  const Value networks = status_of(pod);
  if (networks.is_array() && !ended)
    for (const Value& element : *networks.as_array())
      if (!doc::flag_in(element, "default")) out.interfaces.push_back(interface_of(element));
  if (!ended) out.missing = missing_of(pod, out.interfaces);
  if (out.interfaces.empty() && out.missing.empty()) return std::nullopt;
  return out;
}

// PFs of a node, with the VFs that its pods have.
NodeStatus drawn_node(const Cluster& cluster, const ClusterNode& node, const std::vector<MeasuredPath>& paths) {
  NodeStatus drawn{.name = node.name, .pods = {}, .pfs = {}};
  for (const ClusterPf& pf : node.pfs)
    drawn.pfs.push_back({.pci = pf.pci, .name = pf.name, .rail = "", .vfs = pf.vf_list});
  for (const ClusterPod& pod : cluster.pods) {
    if (pod.node != node.name || pod.interfaces.empty()) continue;
    NodeStatus::Pod& into =
        drawn.pods.emplace_back(NodeStatus::Pod{.name = pod.name, .space = pod.ns, .interfaces = {}});
    for (const ClusterInterface& one : pod.interfaces) {
      NodeStatus::Interface interface{.name = one.name,
                                      .network = one.network,
                                      .vf = one.vf,
                                      .pf = "",
                                      .rdma = one.rdma,
                                      .rail = "",
                                      .soft = false,
                                      .addresses = one.addresses};
      for (NodeStatus::Pf& pf : drawn.pfs)
        for (NodeStatus::Vf& vf : pf.vfs)
          if (vf.pci == one.vf && !one.vf.empty()) {
            interface.pf = pf.pci;
            vf.owner = fmt::format("{}/{}", pod.ns, pod.name);
          }
      for (const MeasuredPath& path : paths)
        for (const perf::Endpoint* end : {&path.client, &path.server})
          if (std::ranges::find(one.addresses, end->address) != one.addresses.end())
            interface.soft = interface.soft || end->soft;
      into.interfaces.push_back(std::move(interface));
    }
  }
  return drawn;
}

}  // namespace

std::vector<ClusterNetwork> networks_of(const std::vector<Value>& definitions, std::vector<std::string>& unknown) {
  std::vector<ClusterNetwork> out;
  for (const Value& object : definitions) {
    doc::Diagnostics found;
    const auto definition = api::parse_attachment(object, found);
    if (!definition) {
      const Value* meta = doc::object_in(object, "metadata");
      unknown.push_back(fmt::format("NetworkAttachmentDefinition {}: {}",
                                    meta != nullptr ? doc::text_in(*meta, "name") : "",
                                    doc::first_error(found).error().message));
      continue;
    }
    std::vector<std::string> types;
    for (const api::Plugin& plugin : definition->config.plugins) types.push_back(plugin.type);
    out.push_back({.ns = *definition->meta.ns,
                   .name = *definition->meta.name,
                   .resource = *definition->resource_name,
                   .plugins = types.empty() ? "a file of each node" : fmt::format("{}", fmt::join(types, ", ")),
                   .addresses = addresses_text(definition->config)});
  }
  std::ranges::sort(out, {}, [](const ClusterNetwork& one) { return std::pair(one.ns, one.name); });
  return out;
}

std::vector<ClusterPod> pods_of(const std::vector<Value>& pods) {
  std::vector<ClusterPod> out;
  for (const Value& object : pods)
    if (auto pod = pod_of(object)) out.push_back(std::move(*pod));
  std::ranges::sort(out, {}, [](const ClusterPod& one) { return std::pair(one.ns, one.name); });
  return out;
}

std::vector<NodeStatus> measured_nodes(const Cluster& cluster, const std::vector<MeasuredPath>& paths) {
  std::set<std::string> measured;
  for (const MeasuredPath& path : paths) measured.insert({path.client.address, path.server.address});
  std::set<std::string> names;
  for (const ClusterPod& pod : cluster.pods)
    for (const ClusterInterface& one : pod.interfaces)
      if (std::ranges::any_of(one.addresses, [&](const std::string& address) { return measured.contains(address); }))
        names.insert(pod.node);
  std::vector<NodeStatus> out;
  for (const ClusterNode& node : cluster.nodes)
    if (names.contains(node.name)) out.push_back(drawn_node(cluster, node, paths));
  return out;
}

}  // namespace railbed::report
