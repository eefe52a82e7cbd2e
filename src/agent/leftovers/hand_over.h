// SPDX-License-Identifier: Apache-2.0
// What the original plugins need to give back pods that railbed attached, when the shims go.
//
// Why: after `railbed cni uninstall` the runtime's DEL reaches the originals. Most of them find what to do in
// the pod (macvlan, ipvlan, sbr, vrf) or in files that railbed keeps as they do (host-local). host-device
// wants the name at home in the interface's alias, which is written here. What wants files of its own
// (sriov, rdma, …) only railbed can put back, and so it is with pods of the meta plugin.
// Threading: one thread. Failure: the state's; of one interface: in its line.
#pragma once

#include <string>
#include <vector>

#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::agent {

struct HandedOver {
  int interfaces = 0;  // of sandboxes of a runtime
  // "llm/a@4f3a net1 (sriov): …" for interfaces that the original plugins cannot restore, or not completely.
  std::vector<std::string> problems;
};

Result<HandedOver> hand_over(os::Kernel& kernel, state::Store& store);

}  // namespace railbed::agent
