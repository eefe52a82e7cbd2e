// SPDX-License-Identifier: Apache-2.0
// The pods of this node: their namespaces, their VFs, their addresses.
//
// Why: `attach` brings one pod's interfaces to the desired state; this adds the rest of standalone mode: it applies the
// steps of pod_decisions.h, with a namespace for each pod.
// Threading: one thread.
// Failure: of one pod is in the report, the others continue; an Error only if the state cannot be read or written.
#pragma once

#include "node/pod_decisions.h"
#include "node/standalone.h"

namespace railbed::node {

// Finishes or undoes what killed runs left behind.
Result<void> recover_pods(os::Kernel& kernel, state::Store& store, PodsReport& report);

// Releases everything of one pod: interfaces, addresses, and its namespace if railbed created it.
Result<void> release_pod(os::Kernel& kernel, state::Store& store, PodServer* server, const std::string& pod,
                         PodsReport& report);

// Carries out the steps that come before those on PFs, and forgets the addresses of pods that are in no manifest.
Result<void> before_pfs(os::Kernel& kernel, state::Store& store, const PodDecisions& decided, const Settings& settings,
                        Progress& progress, PodsReport& report);

// Releases all pods.
Result<void> release_all(os::Kernel& kernel, state::Store& store, const Settings& settings, Progress& progress,
                         PodsReport& report);

// Carries out those that come behind them, each with the VFs and addresses that were decided.
Result<void> behind_pfs(os::Kernel& kernel, state::Store& store, const PodDecisions& decided, const Settings& settings,
                        Progress& progress, PodsReport& report);

}  // namespace railbed::node
