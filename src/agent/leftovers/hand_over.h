// SPDX-License-Identifier: Apache-2.0
// Prepares what the original plugins need to release pods that railbed attached, when the shims are removed.
//
// Why: after `railbed cni uninstall` the runtime's DEL reaches the originals. Most of them find what to do in the pod
// (macvlan, ipvlan, sbr, vrf) or in files that railbed maintains in their format (host-local). host-device needs the
// host name in the interface's alias, which is written here. Types that need their own files (sriov, rdma, …) can be
// restored only by railbed, and so can pods of the meta plugin.
// Threading: one thread.
// Failure: the state's; of one interface: in its line.
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
