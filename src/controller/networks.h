// SPDX-License-Identifier: Apache-2.0
// What the operator does about all SriovNetworks and SriovIBNetworks: attachments.h over objects as they are stored.
//
// Why: beside definitions to write and to sweep there are networks that cannot be read, networks in other people's
// namespaces, and networks that wait for the SR-IOV operator's finalizer, which nobody takes off any more. What was
// made of a network that cannot be read now stays. Threading: pure. Failure: a network's outcome.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controller/attachments.h"
#include "controller/condition.h"
#include "kube/cache.h"
#include "kube/kinds.h"

namespace railbed::controller {

inline constexpr std::string_view kUpstreamFinalizer = "netattdef.finalizers.sriovnetwork.openshift.io";

struct NetworksView {
  const kube::Objects& networks;
  const kube::Objects& ib_networks;
  const kube::Objects& definitions;
  const std::set<std::string>& namespaces;
  std::string_view operator_ns;
  std::string_view resource_prefix;
};

struct NetworkOutcome {
  kube::ObjectPtr network;
  bool infiniband = false;
  Verdict verdict;
};
struct FinalizerPatch {
  kube::ObjectPtr network;
  bool infiniband = false;
  doc::Value patch;  // a merge patch that holds for one resourceVersion
};

struct NetworksPlan {
  std::vector<doc::Value> applies;                    // definitions
  std::vector<AttachmentWrites::Deletion> deletions;  // only after the kinds of networks are known to be there
  std::vector<FinalizerPatch> finalizers;             // after the deletions
  std::vector<NetworkOutcome> outcomes;
};

NetworksPlan plan_networks(const NetworksView& view);

// The status to apply; null where the stored one says the same.
doc::Value network_status(const NetworkOutcome& outcome, std::string_view now);

// Of a definition, what plan_networks() reads.
kube::Trim definition_trim();

}  // namespace railbed::controller
