// SPDX-License-Identifier: Apache-2.0
// The API server's data about a cluster's nodes, policies, networks and pods, as the report shows it.
//
// Why: measurements show what a fabric carries; to find out why a pod has no rail, or a rail no VFs, a user also needs
// the objects: which PFs a policy got on which node, at which step it failed, which pod has which VF. All of it is
// spread over status fields; here it is collected, once, as values.
// Threading: pure.
// Failure: none; an object that cannot be read is named in `unknown`, the others are shown.
// Sources: api/node_state.h; src/schema/data/sriov.yaml (status of policies); Kubernetes Network Custom Resource
// Definition De-facto Standard 1.3 (network-status).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "doc/value.h"
#include "report/node_status.h"
#include "report/section.h"

namespace railbed::report {

// Lists of the API server. What is not there is an empty list.
struct ClusterObjects {
  std::vector<doc::Value> nodes;
  std::vector<doc::Value> node_states;  // SriovNetworkNodeState
  std::vector<doc::Value> policies;     // SriovNetworkNodePolicy
  std::vector<doc::Value> definitions;  // NetworkAttachmentDefinition
  std::vector<doc::Value> pods;
  std::vector<std::string> unknown;  // lists that could not be had, and why
};

// How serious a state is, for its colour. The words beside it say the same.
enum class StateSeverity : uint8_t { kUnknown, kGood, kWaits, kBad };  // the worst last

struct ClusterPf {
  std::string name, pci;
  std::string link;                    // "ETH, 100000 Mb/s"
  std::vector<std::string> resources;  // "rail0: VFs 0-3": the rails that policies made of it
  int vfs = 0;
  int most_vfs = 0;  // that the device can have; 0: no SR-IOV
  int in_use = 0;    // by pods
  std::vector<NodeStatus::Vf> vf_list;
};

struct ClusterNode {
  std::string name;
  StateSeverity severity = StateSeverity::kUnknown;
  std::vector<std::string> conditions;  // "Ready", "not Ready: KubeletNotReady", "MemoryPressure", "cordoned"
  StateSeverity state_severity = StateSeverity::kUnknown;
  std::string state;  // of its node state: "Succeeded", "Failed: …", "no node state"
  std::vector<ClusterPf> pfs;
  std::map<std::string, std::string> versions;  // "kernel" → "6.1.0-28-amd64"
};

// Nodes on which the same became of a policy.
struct PolicyOnNodes {
  std::vector<std::string> nodes;
  std::vector<std::string> pfs;  // "eth0: VFs 0-3"
  StateSeverity severity = StateSeverity::kUnknown;
  std::string state;  // "Applied", "Held", "Shadowed", "Failed", "Pending"
  std::string message;
};

struct ClusterPolicy {
  std::string ns, name;
  std::string asks;   // "4 VFs as rail0 (netdevice, RDMA), priority 10"
  std::string nodes;  // its nodeSelector
  std::string nics;   // its nicSelector
  StateSeverity severity = StateSeverity::kUnknown;
  std::string state;  // "Applied", "NoNicMatches: node gpu-1: …"
  std::vector<PolicyOnNodes> where;
};

struct ClusterNetwork {
  std::string ns, name, resource;
  std::string plugins;    // "sriov, tuning"
  std::string addresses;  // "whereabouts 10.10.0.0/24"
};

struct ClusterInterface {
  std::string name, network, vf, rdma;
  std::vector<std::string> addresses;
};

struct ClusterPod {
  std::string ns, name, node, phase;
  std::vector<ClusterInterface> interfaces;  // attached
  std::vector<std::string> missing;          // networks that it asks for and does not have
};

struct Cluster {
  std::vector<ClusterNode> nodes;        // what stands badly first, then by name
  std::vector<ClusterPolicy> policies;   // by priority, as they count
  std::vector<ClusterNetwork> networks;  // by namespace
  std::vector<ClusterPod> pods;          // that have networks; by namespace
  std::vector<std::string> unknown;
};

Cluster cluster_of(const ClusterObjects& objects);

// For the drawing: the nodes of which a pod has been measured.
std::vector<NodeStatus> measured_nodes(const Cluster& cluster, const std::vector<MeasuredPath>& paths);

}  // namespace railbed::report
