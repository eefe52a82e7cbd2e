// SPDX-License-Identifier: Apache-2.0
// A network of a pod with third-party plugins in its chain: each is executed, or called directly if it is railbed's
// own.
//
// Why in addition to interfaces.h: such a chain cannot be part of one transaction with the pod's other networks, since
// a program may take arbitrarily long and only its own DEL undoes it. So each program has a record before it runs
// (exec_records.h), and each railbed plugin between third-party ones is called as a runtime calls it (plugin.h).
// Threading: not inside a Turn.
// Failure: the plugin's own; what ran is recorded, for give_back_sandbox().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/addresses/backends.h"
#include "agent/pod/meta_pod.h"
#include "agent/records/exec.h"
#include "cni/request.h"
#include "state/store.h"

namespace railbed::agent {

// Of one ADD.
struct ChainPlace {
  const cni::Request& request;
  std::string key;                // state::Sandbox::key()
  std::vector<std::string> path;  // where programs are
  MetaSandbox sandbox;
};

// ADD of the program `type` with the configuration of plugin number `position` of the network's chain.
Execution chain_execution(const ChainPlace& place, const Delegate& network, size_t position, const std::string& type,
                          const std::optional<cni::AddResult>& previous);

struct ChainDone {
  cni::AddResult result;
  std::vector<state::Attachment> records;  // concluded: the caller puts them once all of the pod is attached
};
Result<ChainDone> run_chain(Backends& backends, const ChainPlace& place, const Delegate& network);

}  // namespace railbed::agent
