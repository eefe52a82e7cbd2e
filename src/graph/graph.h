// SPDX-License-Identifier: Apache-2.0
// Objects and one node's facts, resolved into one graph: label → nodeSelector → policy → PF → VF groups → resource →
// networks → pods.
//
// Why: plan, check and the controllers all need the same answer to "which policy configures which VF"; it is computed
// here once, as a pure function. The semantics are those of the SR-IOV operator's CRDs (priority 0 wins, partitions of
// one PF, merging of equal priorities) without its defects; docs/plan.md lists the differences.
//
// Threading: pure functions; a Graph is a value that points into the Catalog and the facts, which must outlive it.
// Failure: none; errors are reported in the diagnostics (ids RB-VF-…, RB-PF-…, RB-POD-…) and as a refusal of that
// policy on that PF; the rest of the node continues.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "doc/diagnostic.h"
#include "facts/node_facts.h"
#include "graph/catalog.h"
#include "graph/outcome.h"
#include "graph/vf_group.h"

namespace railbed::graph {

// What the policies in effect, or a node state, request of one PF.
struct PfWanted {
  const facts::Nic* nic = nullptr;
  std::string name;        // the PF's interface, or its PCI address
  OriginPtr lead;          // its eSwitchMode, linkType and externallyManaged count
  OriginPtr num_vfs_from;  // the one that wants most VFs
  OriginPtr mtu_from;      // the one that asks for the largest MTU; null where none asks for one
  int num_vfs = 0;
  int mtu = 0;  // 0: stays as it is
  api::WantedLinkType link_type = api::WantedLinkType::kAny;
  EswitchMode eswitch_mode = EswitchMode::kLegacy;
  bool externally_managed = false;  // others make the VFs; the PF itself stays as it is
  std::vector<VfGroup> groups;      // disjoint, by first VF
};

// A policy that is not carried out on one PF.
struct Refusal {
  OriginPtr from;
  const facts::Nic* nic = nullptr;
  std::string pf_name;
  std::string reason;
  std::string needs_reboot;  // "LINK_TYPE_P1=IB", "intel_iommu=on iommu=pt"; empty: a reboot would not help
};

struct PodNetwork {
  const api::NetworkSelection* selection = nullptr;
  const Network* network = nullptr;  // null: no network has that name
  std::string key;                   // "namespace/name" as asked for
  std::string interface;             // net1, net2, … where the pod gives no name
};

struct PodOnNode {
  const api::Pod* pod = nullptr;
  std::vector<PodNetwork> networks;
};

struct Graph {
  const Catalog* catalog = nullptr;  // null: of a node state, which has no pods
  const facts::NodeFacts* facts = nullptr;
  std::map<std::string, std::string> labels;  // labels of the facts, overridden by those of the Node object
  std::vector<api::Taint> taints;             // of the Node object; none where there is none, or it has no spec
  bool soft_rdma = false;
  std::vector<PfWanted> pfs;  // by PCI address; only those with something in effect
  std::vector<Refusal> refusals;
  std::vector<PolicyOutcome> outcomes;  // every policy, by priority number and name, the winner first
  std::vector<PodOnNode> pods;          // in the order of the manifests
};

Graph resolve(const Catalog& catalog, const facts::NodeFacts& facts, doc::Diagnostics& diagnostics);

// Findings that need all nodes: policies that no node takes or that are shadowed wherever they match; pods that could
// run on several of the nodes or on none.
void check_across(std::span<const Graph> graphs, doc::Diagnostics& diagnostics);
// The policies' part of check_across().
void check_policies_across(std::span<const Graph> graphs, doc::Diagnostics& diagnostics);

// The networks that a pod asks for, on whatever node it runs.
std::vector<PodNetwork> networks_of(const Catalog& catalog, const api::Pod& pod);
// "namespace/name" of the network that a pod asks for.
std::string network_key(const api::Pod& pod, const api::NetworkSelection& selection);
// The PF's name in messages: "ens1f0 (0000:03:00.0)", or its address where it has no interface.
std::string pf_label(const facts::Nic& nic);
// The name of its first interface, or its address.
std::string pf_name(const facts::Nic& nic);

}  // namespace railbed::graph
