// SPDX-License-Identifier: Apache-2.0
// `railbed agent` in a cluster: its options, and the API server that they name.
//
// Without these options the agent serves a machine of its own, from manifests. Threading: the main thread. Failure:
// connect_cluster(), a kubeconfig or service account that cannot be read, or is refused; an API server that is away is
// none.
#pragma once

#include <memory>
#include <string>

#include "agent/cluster/cluster_side.h"
#include "command/cluster_options.h"
#include "kube/connection.h"
#include "os/ports/kernel.h"

namespace railbed {

// Null where the options name no cluster.
Result<std::unique_ptr<kube::Connection>> connect_cluster(const ClusterOptions& options, os::Kernel& kernel);

}  // namespace railbed
