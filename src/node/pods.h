// SPDX-License-Identifier: Apache-2.0
// The pods of this node: their namespaces, their VFs, their addresses.
//
// Why: `attach` makes one pod's interfaces what is wanted; here is what is around it in standalone mode:
// which pods are wanted, the namespace of each, which VF it gets, and addresses that come out the same on all
// machines that were given the same manifests. Threading: one thread. Failure: of one pod is in the report,
// the others go on; an Error only when the state cannot be read or written.
#pragma once

#include "node/standalone.h"

namespace railbed::node {

// Finishes or undoes what killed runs left behind.
Result<void> recover_pods(os::Kernel& kernel, state::Store& store, PodsReport& report);

// Releases everything of one pod: interfaces, addresses, and its namespace if railbed created it.
Result<void> release_pod(os::Kernel& kernel, state::Store& store, PodServer* server, const std::string& pod,
                         PodsReport& report);

// Releases pods that are not in the graph, and the addresses of pods that are in no manifest.
Result<void> release_unwanted(os::Kernel& kernel, state::Store& store, const Resolved& now, const Settings& settings,
                              Progress& progress, PodsReport& report);

// Releases the pods whose VFs the plan's steps remove.
Result<void> release_disturbed(os::Kernel& kernel, state::Store& store, const plan::NodePlan& plan,
                               const Settings& settings, Progress& progress, PodsReport& report);

// Releases all pods.
Result<void> release_all(os::Kernel& kernel, state::Store& store, const Settings& settings, Progress& progress,
                         PodsReport& report);

// Brings the interfaces of all pods of the graph to the wanted state, with the VFs that the plan assigns.
Result<void> attach_wanted(os::Kernel& kernel, state::Store& store, const Resolved& now, const Settings& settings,
                           Progress& progress, PodsReport& report);

}  // namespace railbed::node
