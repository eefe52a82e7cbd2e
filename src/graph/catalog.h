// SPDX-License-Identifier: Apache-2.0
// The objects of a run, indexed once for any number of nodes.
//
// Why: a cluster has many nodes and one set of manifests; what does not depend on a node (which policies are valid at
// all, in which order they apply, which network has which name and resource) is determined and reported once.
// Threading: immutable after index(); any thread may read. It points into the Objects given to index(), which must
// outlive it.
// Failure: none; findings go to the diagnostics (ids RB-POLICY-…, RB-NET-…).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "doc/diagnostic.h"
#include "graph/vf_group.h"

namespace railbed::graph {

struct Options {
  std::string resource_prefix = "openshift.io";
  bool soft_rdma = false;  // for all nodes; a Node object can also ask for itself alone
};

struct Policy {
  const api::SriovNetworkNodePolicy* object = nullptr;
  std::string key;       // "namespace/name"
  VfGroup group;         // what it requests of each PF that it selects, without VFs
  bool ignored = false;  // named "default", or without VFs
  std::string problem;   // why it is ignored, or refused on every node; empty when nothing is wrong
};

struct Network {
  std::string key;       // "namespace/name" of the attachment definition
  std::string resource;  // with prefix; empty: it needs no VF
  std::string type;      // of the first plugin: "sriov", "macvlan", …
  api::NetworkAttachmentDefinition definition;
};

struct Catalog {
  Options options;
  std::vector<Policy> policies;  // in the order in which they apply: a later one wins
  std::map<std::string, Network, std::less<>> networks;
  std::vector<const api::Pod*> pods;
  std::map<std::string, const api::Node*, std::less<>> nodes;
};

Catalog index(const api::Objects& objects, const Options& options, doc::Diagnostics& diagnostics);

}  // namespace railbed::graph
