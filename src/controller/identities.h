// SPDX-License-Identifier: Apache-2.0
// MACs and GUIDs that pods of two nodes have at the same time, according to their network-status.
//
// Why: an agent refuses a MAC or GUID that another pod of its node has, and does not know other nodes. Partitions of an
// InfiniBand fabric are assigned by GUID, and a switch sends frames to the last user of a MAC: a pod with another pod's
// identity gets its traffic. Scope: interfaces of additional networks, not of the default network. A GUID counts in all
// networks; a MAC in one network, or between interfaces of VFs in any, since other networks may be isolated from each
// other. Pods of one node do not count: its agent has checked them, and ipvlan's interfaces share a MAC by design.
// Threading: pure.
// Failure: none; a status that cannot be read is ignored.
// Source: the annotation of Multus.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/object.h"

namespace railbed::controller {

// An interface of a pod that runs.
struct IdentityHolder {
  kube::ObjectKey pod;
  std::string node, network, interface;
  bool of_vf = false;
  std::string uid;  // of the pod
  friend auto operator<=>(const IdentityHolder&, const IdentityHolder&) = default;
};

struct SharedIdentity {
  std::string what;                     // "MAC 02:00:00:00:00:09", "GUID 0200:0000:0000:0009"
  std::vector<IdentityHolder> holders;  // of at least two nodes
  friend auto operator<=>(const SharedIdentity&, const SharedIdentity&) = default;
};

// What Identities reads of a pod.
kube::Trim identity_trim();

class Identities {
 public:
  // A pod as the API server has it.
  void add(const doc::Value& pod);
  // In the order of their names.
  std::vector<SharedIdentity> shared() const;

 private:
  std::map<std::string, std::vector<IdentityHolder>> holders_;  // by identity
};

// "MAC 02:00:00:00:00:09: ai/a (net1 of ai/rail0, node1), ai/b (net1 of ai/rail0, node2)".
std::string to_text(const SharedIdentity& shared);

}  // namespace railbed::controller
