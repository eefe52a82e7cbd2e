// SPDX-License-Identifier: Apache-2.0
// Who else restarts or drains a node.
//
// Why: two programs that each respect their own limit together exceed both. A node that kured, OpenShift's
// MachineConfigPools, a NodeMaintenance or nodewright maintains counts against a pool's bound, and is not started.
// Threading: pure.
// Failure: none; what is not known here does not count.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drain/pods.h"

namespace railbed::drain {

// "kured", "MachineConfigPool", … in this order, each once. `node_maintenances` are the names of the NodeMaintenance
// objects of this node that are in progress.
std::vector<std::string> other_maintenance(const Labels& labels, const Labels& annotations,
                                           const std::vector<std::string>& node_maintenances);

// Whether a label or annotation of this key says so: of a Node, no others need to be kept.
bool is_sign_of_maintenance(std::string_view key);

}  // namespace railbed::drain
