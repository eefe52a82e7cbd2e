// SPDX-License-Identifier: Apache-2.0
// The VFs that a drain of the node withdraws from the kubelet.
//
// Why: the operator orders resources, and their free VFs must not be given to pods until the change is in place. A VF
// that a pod has stays healthy, because a kubelet that starts again refuses a pod whose device is not; no further pod
// gets it. While the kubelet does not report which VFs pods have, a VF that was not known to be free before counts as
// one of a pod.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kubelet/device_offers.h"

namespace railbed::agent {

// The VFs of these resources that are there.
std::set<PciAddress> vfs_of_resources(const std::vector<std::string>& resources, const kubelet::NodeDevices& devices);

enum class HoldersKnown : uint8_t { kNo, kYes };

struct Holders {
  HoldersKnown known = HoldersKnown::kYes;
  std::set<PciAddress> held;         // by pods, where it is known
  std::set<PciAddress> free_before;  // withdrawn already, and without a pod since
};

// Fills NodeDevices::drained and drained_of_pods.
void add_drained(const std::set<PciAddress>& vfs, const Holders& holders, kubelet::NodeDevices& devices);

// Those of `resources` of which the kubelet can give no VF to a pod; `devices` has its drained VFs already.
std::vector<std::string> withdrawn_resources(const std::vector<std::string>& resources, HoldersKnown known,
                                             const kubelet::NodeDevices& devices);

}  // namespace railbed::agent
