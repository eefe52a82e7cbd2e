// SPDX-License-Identifier: Apache-2.0
// Addresses that are determined before a pod is attached, because machines with the same manifests must agree on them.
//
// Why: a plan over all pods works only if the addresses of pods that have not started yet are reserved. This computes
// the plan from the addresses that a source says its pods need, reserves all of them in the store, lets a sandbox take
// its pod's addresses, and reserves them again when the sandbox ends.
// Threading: called inside a Turn, by its owner.
// Failure: the store's; an interface whose addresses could not be planned reports that when it takes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/engine.h"
#include "agent/pod/sources.h"
#include "node/planned_addresses.h"

namespace railbed::agent {

class Reservations {
 public:
  // The planned addresses of a pod's interface, from now on the sandbox's; nothing where none are planned and the agent
  // decides.
  Result<std::optional<std::vector<ipam::Assigned>>> take(Engine::Turn& turn, PodSource& source, const std::string& pod,
                                                          const ipam::Owner& sandbox);
  // Reserves the addresses of a pod whose sandbox has gone, for its next one. A pod that the source no longer plans for
  // gets none.
  Result<void> reserve(Engine::Turn& turn, PodSource& source, const std::string& pod);

 private:
  std::shared_ptr<const AddressClaims> claims_;  // what `planned_` was made from; null: there is no plan
  node::PlannedAddresses planned_;
};

}  // namespace railbed::agent
