// SPDX-License-Identifier: Apache-2.0
// The namespaced part of cluster.h: networks and the pods that use them.
// Threading: pure.
// Failure: as there.
#pragma once

#include <string>
#include <vector>

#include "report/cluster.h"

namespace railbed::report {

// By namespace and name. What cannot be read is named in `unknown`.
std::vector<ClusterNetwork> networks_of(const std::vector<doc::Value>& definitions, std::vector<std::string>& unknown);
// Those that have networks or ask for some, without pods that have ended; by namespace and name.
std::vector<ClusterPod> pods_of(const std::vector<doc::Value>& pods);

}  // namespace railbed::report
