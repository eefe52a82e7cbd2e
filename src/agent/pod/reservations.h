// SPDX-License-Identifier: Apache-2.0
// Addresses that are decided before a pod is attached, because machines with the same manifests must agree on them.
//
// Why: a plan over all pods is only as good as the addresses that are kept for pods which are not there yet. This makes
// the plan from what a source says its pods want, reserves all of it in the store, lets a sandbox take its pod's
// addresses, and reserves them anew when the sandbox goes. Threading: called in a turn, by whoever has it. Failure:
// what the store says; an interface whose addresses could not be planned says so when it takes them.
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
