// SPDX-License-Identifier: Apache-2.0
// The current pods according to the state and the machine, as one value.
//
// Why: which pods are detached and attached is decided over values (pod_decisions.h); this is the half of the input
// that is read.
// Threading: the reader as os::Kernel, the rest pure.
// Failure: of the state, or of a namespace that cannot be examined.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "attach/presence.h"
#include "facts/node_facts.h"
#include "plan/plan.h"
#include "state/store.h"

namespace railbed::node {

struct InterfaceThere {
  state::Attachment record;
  attach::Presence presence = attach::Presence::kThere;
};

struct PodsThere {
  std::vector<InterfaceThere> interfaces;  // in the order of the records
  std::vector<state::PodRecord> pods;
  std::vector<state::AddressLease> leases;
  std::set<std::string> namespaces;  // the named ones of this machine
};

// `store` is null where the state is not at hand: then nothing is known to be there.
Result<PodsThere> pods_there(os::Kernel& kernel, state::Store* store);

// An attachment by its pod and record.
using RecordId = std::pair<std::string, std::string>;
inline RecordId id_of(const state::Attachment& record) {
  return {record.pod, record.interface};
}

// The VFs that pods have, but for the interfaces in `leaving`.
plan::InUse in_use_by(const PodsThere& there, const std::set<RecordId>& leaving);

// The facts as they are once the interfaces in `leaving` are given back: their devices are at home, as they were.
facts::NodeFacts facts_without(facts::NodeFacts facts, const PodsThere& there, const std::set<RecordId>& leaving);

// The names at home of host interfaces that pods have: they are not among the facts, and are this machine's all the
// same.
std::set<std::string> lent_interfaces(const PodsThere& there);

// Pods of a container runtime come and go with its requests, independently of the manifests.
bool is_of_runtime(const std::string& pod);

}  // namespace railbed::node
