// SPDX-License-Identifier: Apache-2.0
#include "report/cluster.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "api/node_state.h"
#include "api/policy.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "report/cluster_pods.h"
#include "report/joined.h"

namespace railbed::report {
namespace {

using api::NodeStatePolicy;
using api::SriovNetworkNodeState;
using doc::Value;

std::string name_of(const Value& object) {
  const Value* meta = doc::object_in(object, "metadata");
  return meta != nullptr ? doc::text_in(*meta, "name") : "";
}

// --- nodes

// Of a Node: Ready, and what else is true that should not be.
void read_conditions(const Value& object, ClusterNode& node) {
  const Value* status = doc::object_in(object, "status");
  const Value::Array* conditions = status != nullptr ? doc::list_in(*status, "conditions") : nullptr;
  if (conditions != nullptr)
    for (const Value& one : *conditions) {
      const std::string type = doc::text_in(one, "type");
      const std::string is = doc::text_in(one, "status");
      if (type == "Ready") {
        node.severity = is == "True" ? StateSeverity::kGood : StateSeverity::kBad;
        const std::string reason = doc::text_in(one, "reason");
        node.conditions.insert(
            node.conditions.begin(),
            is == "True" ? "Ready" : fmt::format("not Ready{}{}", reason.empty() ? "" : ": ", reason));
      } else if (is == "True") {
        node.conditions.push_back(type);
      }
    }
  if (node.severity == StateSeverity::kGood && node.conditions.size() > 1) node.severity = StateSeverity::kWaits;
  if (node.conditions.empty()) node.conditions.emplace_back("kubelet has not reported yet");
  const Value* spec = doc::object_in(object, "spec");
  if (spec != nullptr && doc::flag_in(*spec, "unschedulable")) node.conditions.emplace_back("cordoned");
}

void read_versions(const Value& object, ClusterNode& node) {
  const Value* status = doc::object_in(object, "status");
  const Value* info = status != nullptr ? doc::object_in(*status, "nodeInfo") : nullptr;
  if (info == nullptr) return;
  for (const auto& [key, name] : {std::pair("kernelVersion", "kernel"),
                                  {"osImage", "system"},
                                  {"architecture", "architecture"},
                                  {"containerRuntimeVersion", "runtime"},
                                  {"kubeletVersion", "kubelet"}})
    if (std::string text = doc::text_in(*info, key); !text.empty()) node.versions[name] = std::move(text);
}

std::string range_text(const api::NodeStateVfGroup& group) {
  if (group.vfs.first == group.vfs.last) return fmt::format("VF {}", group.vfs.first);
  return fmt::format("VFs {}-{}", group.vfs.first, group.vfs.last);
}

ClusterPf pf_of(const api::FoundNic& nic, const SriovNetworkNodeState& state, const std::set<std::string>& held) {
  ClusterPf pf{.name = nic.name, .pci = nic.address.to_string()};
  pf.link = joined({nic.link_type, nic.link_speed}, nic.link_type.empty() || nic.link_speed.empty() ? "" : ", ");
  pf.vfs = nic.num_vfs;
  pf.most_vfs = nic.total_vfs;
  for (const api::FoundVf& vf : nic.vfs) {
    pf.vf_list.push_back({.index = vf.index, .pci = vf.address.to_string(), .owner = ""});
    pf.in_use += held.contains(vf.address.to_string()) ? 1 : 0;
  }
  for (const api::NodeStatePf& wanted : state.pfs)
    if (wanted.address == nic.address)
      for (const api::NodeStateVfGroup& group : wanted.groups)
        pf.resources.push_back(fmt::format("{}: {}", group.resource_name, range_text(group)));
  return pf;
}

// A status that speaks of an older spec says nothing about this one.
bool is_outdated(const SriovNetworkNodeState& state) {
  return state.observed_generation != 0 && state.observed_generation != state.generation;
}

void read_state(const SriovNetworkNodeState& state, const std::set<std::string>& held, ClusterNode& node) {
  for (const api::FoundNic& nic : state.nics)
    if (nic.total_vfs > 0 || nic.num_vfs > 0) node.pfs.push_back(pf_of(nic, state, held));
  node.state = state.sync_status.empty() ? "Unknown: not yet reported by its agent" : state.sync_status;
  node.state_severity = state.sync_status == "Succeeded"    ? StateSeverity::kGood
                        : state.sync_status == "Failed"     ? StateSeverity::kBad
                        : state.sync_status == "InProgress" ? StateSeverity::kWaits
                                                            : StateSeverity::kUnknown;
  if (is_outdated(state)) {
    node.state = fmt::format(
        "Pending: its agent has not applied the last change yet; it reported {} for the previous one", node.state);
    node.state_severity = StateSeverity::kWaits;
  } else if (!state.last_sync_error.empty()) {
    node.state += ": " + state.last_sync_error;
  }
}

// --- policies

std::string selector_text(const std::map<std::string, std::string>& labels) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : labels) texts.push_back(value.empty() ? key : fmt::format("{}={}", key, value));
  return texts.empty() ? "all nodes" : joined(texts);
}

template <typename T, typename Text>
std::string list_text(std::string_view name, const std::vector<doc::Field<T>>& values, Text text) {
  std::vector<std::string> texts;
  for (const doc::Field<T>& one : values) texts.push_back(text(*one));
  return texts.empty() ? "" : fmt::format("{} {}", name, joined(texts, " or "));
}

std::string pf_name_text(const api::PfName& name) {
  return name.vfs ? fmt::format("{}#{}-{}", name.name, name.vfs->first, name.vfs->last) : name.name;
}

std::string nics_text(const api::NicSelector& selector) {
  std::vector<std::string> texts;
  if (selector.vendor.present) texts.push_back("vendor " + *selector.vendor);
  if (selector.device_id.present) texts.push_back("device " + *selector.device_id);
  texts.push_back(list_text("at", selector.root_devices, [](const PciAddress& one) { return one.to_string(); }));
  texts.push_back(list_text("named", selector.pf_names, pf_name_text));
  if (selector.net_filter.present) texts.push_back(*selector.net_filter);
  std::erase(texts, "");
  return joined(texts);
}

std::string asks_text(const api::SriovNetworkNodePolicy& policy) {
  std::string text = fmt::format("{} VFs as {} ({}{})", *policy.num_vfs, *policy.resource_name,
                                 *policy.device_type == DeviceType::kVfioPci ? "vfio-pci" : "netdevice",
                                 *policy.is_rdma ? ", RDMA" : "");
  if (policy.mtu.present) text += fmt::format(", MTU {}", *policy.mtu);
  return text + fmt::format(", priority {}", *policy.priority);
}

// What one node says about a policy.
struct PolicyOnNode {
  std::vector<std::string> pfs;
  std::string state;
  std::string message;
};

PolicyOnNode by_node_state(const SriovNetworkNodeState& state, const std::string& policy) {
  PolicyOnNode on;
  for (const api::NodeStatePf& pf : state.pfs)
    for (const api::NodeStateVfGroup& group : pf.groups)
      if (group.policy_name == policy)
        on.pfs.push_back(fmt::format("{}: {}", pf.name.empty() ? pf.address.to_string() : pf.name, range_text(group)));
  if (on.pfs.empty()) return on;
  const auto reported = std::ranges::find(state.policies, policy, &NodeStatePolicy::name);
  if (is_outdated(state) || (state.sync_status != "Succeeded" && reported == state.policies.end())) {
    on.state = state.sync_status == "Failed" && !is_outdated(state) ? "Failed" : "Pending";
    on.message = on.state == "Failed" ? state.last_sync_error : "not yet applied by the node";
    return on;
  }
  if (reported == state.policies.end()) {
    on.state = "Applied";
    return on;
  }
  constexpr std::string_view kStates[] = {"Applied", "Held", "Failed"};  // as NodeStatePolicy::State
  on.state = kStates[static_cast<size_t>(reported->state)];
  on.message = reported->message;
  return on;
}

StateSeverity severity_of(std::string_view state) {
  if (state == "Applied") return StateSeverity::kGood;
  if (state == "Failed") return StateSeverity::kBad;
  return state == "Held" || state == "Pending" || state == "Shadowed" ? StateSeverity::kWaits : StateSeverity::kUnknown;
}

// What its own status lists, which is of nodes where it is not applied, goes before what the nodes report.
std::map<std::string, PolicyOnNode> nodes_of(const Value& object, const std::string& name,
                                             const std::vector<SriovNetworkNodeState>& states) {
  std::map<std::string, PolicyOnNode> nodes;
  for (const SriovNetworkNodeState& state : states)
    if (PolicyOnNode on = by_node_state(state, name); !on.state.empty()) nodes[*state.meta.name] = std::move(on);
  const Value* status = doc::object_in(object, "status");
  const Value::Array* listed = status != nullptr ? doc::list_in(*status, "nodes") : nullptr;
  if (listed == nullptr) return nodes;
  for (const Value& one : *listed) {
    PolicyOnNode& on = nodes[doc::text_in(one, "name")];
    if (on.pfs.empty()) on.pfs = doc::texts_in(one, "pfs");
    on.state = doc::text_in(one, "state");
    on.message = doc::text_in(one, "message");
  }
  return nodes;
}

void read_ready(const Value& object, ClusterPolicy& policy) {
  const Value* status = doc::object_in(object, "status");
  const Value::Array* conditions = status != nullptr ? doc::list_in(*status, "conditions") : nullptr;
  if (conditions == nullptr) return;
  for (const Value& one : *conditions) {
    if (doc::text_in(one, "type") != "Ready") continue;
    const std::string is = doc::text_in(one, "status");
    const std::string message = doc::text_in(one, "message");
    policy.severity = is == "True" ? StateSeverity::kGood : is == "False" ? StateSeverity::kBad : StateSeverity::kWaits;
    policy.state = doc::text_in(one, "reason");
    if (!message.empty()) policy.state += ": " + message;
  }
}

ClusterPolicy policy_of(const Value& object, const std::vector<SriovNetworkNodeState>& states) {
  ClusterPolicy out{.name = name_of(object)};
  if (const Value* meta = doc::object_in(object, "metadata")) out.ns = doc::text_in(*meta, "namespace");
  doc::Diagnostics found;
  const auto policy = api::parse_policy(object, found);
  if (policy) {
    out.asks = asks_text(*policy);
    out.nodes = selector_text(policy->node_selector);
    out.nics = nics_text(policy->nic_selector);
  }
  out.state = "Unknown: not yet reported by the operator";
  read_ready(object, out);
  if (!policy) {
    out.severity = StateSeverity::kBad;
    out.state = "cannot be read: " + doc::first_error(found).error().message;
  }
  std::map<std::tuple<std::string, std::string, std::vector<std::string>>, std::vector<std::string>> alike;
  for (auto& [node, on] : nodes_of(object, out.name, states)) alike[{on.state, on.message, on.pfs}].push_back(node);
  for (auto& [key, nodes] : alike) {
    const auto& [state, message, pfs] = key;
    out.where.push_back(
        {.nodes = std::move(nodes), .pfs = pfs, .severity = severity_of(state), .state = state, .message = message});
  }
  std::ranges::stable_sort(out.where, std::ranges::greater(), &PolicyOnNodes::severity);
  return out;
}

int priority_of(const Value& object) {
  const Value* spec = doc::object_in(object, "spec");
  return spec != nullptr ? doc::optional_number(*spec, "priority").value_or(99) : 99;
}

// --- all

std::vector<SriovNetworkNodeState> states_of(const ClusterObjects& objects, Cluster& out) {
  std::vector<SriovNetworkNodeState> states;
  for (const Value& object : objects.node_states) {
    doc::Diagnostics found;
    if (auto state = api::parse_node_state(object, found))
      states.push_back(std::move(*state));
    else
      out.unknown.push_back(
          fmt::format("{} {}: {}", api::kNodeStateKind, name_of(object), doc::first_error(found).error().message));
  }
  return states;
}

// By node: the PCI addresses that its pods have.
std::map<std::string, std::set<std::string>> held_vfs(const std::vector<ClusterPod>& pods) {
  std::map<std::string, std::set<std::string>> held;
  for (const ClusterPod& pod : pods)
    for (const ClusterInterface& interface : pod.interfaces)
      if (!interface.vf.empty()) held[pod.node].insert(interface.vf);
  return held;
}

}  // namespace

Cluster cluster_of(const ClusterObjects& objects) {
  Cluster out;
  out.unknown = objects.unknown;
  const std::vector<SriovNetworkNodeState> states = states_of(objects, out);
  out.networks = networks_of(objects.definitions, out.unknown);
  out.pods = pods_of(objects.pods);
  const auto held = held_vfs(out.pods);
  std::map<std::string, ClusterNode> nodes;
  for (const Value& object : objects.nodes) {
    ClusterNode& node = nodes[name_of(object)];
    read_conditions(object, node);
    read_versions(object, node);
    node.state = "no node state";
  }
  for (const SriovNetworkNodeState& state : states) {
    ClusterNode& node = nodes[*state.meta.name];
    if (node.conditions.empty()) node.conditions.emplace_back("Node not found");
    const auto of_node = held.find(*state.meta.name);
    read_state(state, of_node != held.end() ? of_node->second : std::set<std::string>(), node);
  }
  for (auto& [name, node] : nodes) {
    node.name = name;
    out.nodes.push_back(std::move(node));
  }
  std::ranges::stable_sort(out.nodes, {}, [](const ClusterNode& one) {
    return one.severity != StateSeverity::kBad && one.state_severity != StateSeverity::kBad;
  });
  std::vector<const Value*> by_priority;
  for (const Value& object : objects.policies) by_priority.push_back(&object);
  std::ranges::stable_sort(by_priority, {},
                           [](const Value* one) { return std::pair(priority_of(*one), name_of(*one)); });
  for (const Value* object : by_priority) out.policies.push_back(policy_of(*object, states));
  return out;
}

}  // namespace railbed::report
