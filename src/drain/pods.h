// SPDX-License-Identifier: Apache-2.0
// Which pods of a node a change disrupts, and what may be done about each.
//
// Why: a change of VFs concerns exactly the pods whose requests name a resource that changes on that node. The operator
// decides from its own cache; what a node's agent reports can only narrow the set, because a stolen token of a node
// must not evict anything. Not every pod can be evicted: a mirror pod is the kubelet's, a bare pod is deleted for good,
// a pod of a DaemonSet returns to the same node.
// Spec: policy/v1 Eviction; PodSpec and PodStatus of core/v1.
// Threading: pure functions over values.
// Failure: none; each pod has its class and the reason.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/utc.h"
#include "doc/value.h"

namespace railbed::drain {

using Time = std::chrono::sys_seconds;
using Resources = std::set<std::string>;  // full names: "openshift.io/rail0"
using Labels = std::map<std::string, std::string>;

// The owner that controls an object.
struct OwnerRef {
  std::string group;  // "apps"; empty: the core group
  std::string kind;
  std::string name;
  std::string uid;
  friend bool operator==(const OwnerRef&, const OwnerRef&) = default;
};

// What drains read of a pod.
struct DrainPod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string node;
  Labels labels = {};
  std::optional<OwnerRef> owner = {};
  Resources requests = {};            // of containers and init containers
  std::set<std::string> claims = {};  // names of ResourceClaims in its namespace
  bool mirror = false;                // of a static pod
  bool finished = false;              // phase Succeeded or Failed
  bool ending = false;                // has a deletionTimestamp
  std::vector<std::string> finalizers = {};
  friend bool operator==(const DrainPod&, const DrainPod&) = default;
};

// Of a pod that an API server has accepted; members of wrong types count as absent.
DrainPod read_drain_pod(const doc::Value& pod);
// The owner with controller: true.
std::optional<OwnerRef> controller_of(const doc::Value& object);

enum class PodClass : uint8_t {
  kEvicted,   // by the Eviction API
  kDaemon,    // evicted last: its replacement waits on this node until the VFs are back
  kBare,      // has no controller, so an eviction deletes it for good: blocks
  kMirror,    // of a static pod, which no eviction ends: blocks
  kEnding,    // being deleted already: waited for
  kFinished,  // uses no VF
};

struct AffectedPod {
  std::string ns;
  std::string name;
  std::string uid;
  PodClass kind = PodClass::kEvicted;
  std::string reason;  // one sentence
  std::vector<std::string> finalizers = {};
  std::string unit = {};    // what is interrupted together (groups.h)
  std::string spread = {};  // the owner of which one unit goes at a time; empty: there is no such limit
  friend bool operator==(const AffectedPod&, const AffectedPod&) = default;
  std::string key() const { return ns + "/" + name; }
};

// Whether the pod must have ended before VFs change, and whether an eviction may be sent for it.
inline bool is_in_the_way(const AffectedPod& pod) {
  return pod.kind != PodClass::kFinished;
}
inline bool is_evictable(const AffectedPod& pod) {
  return pod.kind == PodClass::kEvicted || pod.kind == PodClass::kDaemon;
}

// Longer reports of an agent count as none.
inline constexpr size_t kMostReportedPods = 256;

struct NodeChange {
  std::string node;
  Resources resources = {};                            // that change on this node
  bool reboot = false;                                 // all pods but mirror pods and those of DaemonSets end
  std::optional<std::set<std::string>> reported = {};  // uids of pods with VFs that change, by the agent
  bool evict_bare = false;                             // annotation kEvictBare of the pool
};
// On a pool, "true": pods without a controller may be evicted.
inline constexpr std::string_view kEvictBare = "railbed.dev/evict-bare";

// "NAMESPACE/NAME" of a ResourceClaim: the resources whose devices were allocated to it.
using ClaimResources = std::map<std::string, Resources>;

struct Affected {
  std::vector<AffectedPod> pods;  // by namespace and name
  bool coarse = false;            // the agent has not reported: pods by their requests alone
  friend bool operator==(const Affected&, const Affected&) = default;
};

Affected affected_pods(const NodeChange& change, const std::vector<DrainPod>& pods, const ClaimResources& claims);

}  // namespace railbed::drain
