// SPDX-License-Identifier: Apache-2.0
// The operator's decisions for all SriovNetworks and SriovIBNetworks: attachments.h over objects as they are stored.
//
// Why: in addition to definitions to write and to delete there are networks that cannot be read, networks in other
// users' namespaces, and networks that wait for the SR-IOV operator's finalizer, which no component removes any more.
// Definitions of a network that currently cannot be read are retained, and so are those of one that was deleted with
// its kind, and all of a kind that is not listed.
// Threading: pure.
// Failure: a network's outcome.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controller/attachments.h"
#include "controller/condition.h"
#include "controller/upstream_finalizers.h"
#include "kube/cache.h"
#include "kube/kinds.h"

namespace railbed::controller {

// A CustomResourceDefinition, as far as it is known: one that is being deleted is not.
struct KindDefinition {
  std::string uid;      // empty: it is not there, or reading it is forbidden
  std::string created;  // metadata.creationTimestamp
  friend bool operator==(const KindDefinition&, const KindDefinition&) = default;
};

struct NetworksView {
  // Null where the kind is not listed now: what is known of its networks stays as it is.
  const kube::Objects* networks;
  const kube::Objects* ib_networks;
  const kube::Objects& definitions;
  const std::set<std::string>& namespaces;
  const std::set<std::string>& operator_namespaces;  // whose networks may name any networkNamespace
  std::string_view resource_prefix;
  KindDefinition kind;     // of `networks`
  KindDefinition ib_kind;  // of `ib_networks`
};

struct NetworkOutcome {
  kube::ObjectPtr network;
  bool infiniband = false;
  Readiness readiness;
};
struct FinalizerPatch {
  kube::ObjectPtr network;
  bool infiniband = false;
  doc::Value patch;  // a merge patch that holds for one resourceVersion
};

struct NetworksPlan {
  std::vector<doc::Value> applies;  // definitions
  std::vector<AttachmentWrites::Deletion> deletions;
  std::vector<kube::ObjectPtr> kept;       // definitions whose networks went with their kind, or may have
  std::vector<FinalizerPatch> finalizers;  // after the deletions
  std::vector<NetworkOutcome> outcomes;
};

NetworksPlan plan_networks(const NetworksView& view);

// What is reported of a definition that is kept.
std::string why_kept(const doc::Value& definition);

// The status to apply; null where the stored one says the same.
doc::Value network_status(const NetworkOutcome& outcome, std::string_view now);

// Of a definition, what plan_networks() reads.
kube::Trim definition_trim();

}  // namespace railbed::controller
