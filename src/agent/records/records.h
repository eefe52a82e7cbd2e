// SPDX-License-Identifier: Apache-2.0
// Conversion between CNI requests and the state's records: their owner, and the result in CNI's format.
//
// Threading: a Turn's thread.
// Failure: the store's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/engine.h"
#include "attach/result.h"
#include "cni/add_result.h"
#include "cni/config.h"
#include "cni/request.h"
#include "ipam/assign.h"
#include "state/sandbox.h"
#include "state/store.h"

namespace railbed::agent {

// The sandbox of an ADD. Under `railbed up` the container's id is the name of the namespace that it made, and
// the records are the pod's own (sandbox.h).
state::Sandbox sandbox_of(const cni::Request& request);

// The keys under which this container has records: one at most, unless a runtime named two pods for it. DEL
// may come without CNI_ARGS, so the container's id alone decides.
Result<std::vector<std::string>> keys_of_container(state::Store& store, const cni::Request& request);

// The interface in CNI's format, with the addresses, routes and DNS from its IPAM.
cni::AddResult result_of(const attach::InterfaceResult& made, const std::string& netns, cni::AddResult addresses);

// The result that a chained plugin passes on: `previous` with its changes of the interface.
cni::AddResult merged(cni::AddResult previous, const attach::InterfaceResult& changed, const std::string& ifname);

// Adds addresses and routes that are known only after the interface was made (dhcp) to the interface and its record.
// They vanish with the interface, so there is nothing to undo.
Result<void> add_addresses(Engine::Turn& turn, const ipam::Owner& owner, const std::string& netns,
                           const cni::AddResult& learned, attach::InterfaceResult& made);

// Where a configuration's host-local keeps its files; nullopt for another type.
struct HostLocalPlace {
  std::string data_dir;  // empty: the usual one
};
std::optional<HostLocalPlace> host_local_place(const cni::PluginConfig& config);

// A pod that a runtime made is known by name to `exec`, `perf` and `status`; nothing for one without a name.
Result<void> remember_pod(state::Store& store, const state::Sandbox& sandbox, const std::string& netns);
// To be called when its last attachment may be gone.
Result<void> forget_pod_if_empty(state::Store& store, const std::string& key);
// At the agent's start: those whose last attachment went just before the agent was killed. Returns how many.
Result<int> forget_empty_pods(state::Store& store);

}  // namespace railbed::agent
