// SPDX-License-Identifier: Apache-2.0
// What is interrupted together, and what one at a time.
//
// Why: a training job dies with its first worker, so all its pods on the nodes of a change are evicted in the same
// moment, once. Replicas of a service are independent: evicting them together would take the service down, also where
// it has no PodDisruptionBudget. A LeaderWorkerSet is a set of such replicas, each of which is a group. The labels that
// controllers put on pods are read first, so that most groups need no right to read kinds of others; where they are
// missing, the owners that the caller knows.
// Threading: pure functions over values.
// Failure: none; an owner that is not known ends the chain.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "drain/pods.h"

namespace railbed::drain {

// On a pod: the name of a group in its namespace, instead of what is derived from its owners.
inline constexpr std::string_view kGroupLabel = "railbed.dev/disruption-group";

struct OwnerObject {
  OwnerRef self;
  std::optional<OwnerRef> owner = {};
  friend bool operator==(const OwnerObject&, const OwnerObject&) = default;
};
using OwnerIndex = std::map<std::string, OwnerObject>;  // by uid

struct Unit {
  std::string name;         // of all pods that are interrupted together: "JobSet ai/train", "Pod web/front-0"
  std::string spread = {};  // "Deployment web/front": one of its units at a time; empty: there is no such limit
  bool together = false;    // its pods on all nodes of the change are evicted in the same moment
  friend bool operator==(const Unit&, const Unit&) = default;
};

Unit group_of(const DrainPod& pod, const OwnerIndex& owners);

// affected_pods() with the unit of each. A unit of a group is named as such; of a single pod, it begins with "Pod ".
void set_units(Affected& affected, const std::vector<DrainPod>& pods, const OwnerIndex& owners);
// Whether pods on other nodes belong to this unit, too.
bool is_group(std::string_view unit);

}  // namespace railbed::drain
