// SPDX-License-Identifier: Apache-2.0
// The identity under which this node leases addresses: its name, its machine, this boot.
//
// Why not the machine's own data alone: the operator compares leases with what the kubelet has reported in the Node, so
// the Node's system UUID is used. Why not that alone: another machine may have had the Node's name, and its object may
// still be that machine's. So the Node's UUID must be one that this machine has, too.
// Threading: any; cell_owner() waits for the API server.
// Failure: NotFound without the Node; Busy if it has no UUID yet, or another machine's.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "ipam/cell_leases.h"
#include "kube/client.h"
#include "kube/kinds.h"
#include "kube/right.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

struct MachineIdentity {
  std::vector<std::string> uuids;  // where the kubelet reads it: the firmware's, else /etc/machine-id
  std::string boot_id;
};
MachineIdentity machine_identity(os::Kernel& kernel);

inline constexpr kube::Right kCellOwnerRights[] = {
    {.kind = kube::kNodes, .verbs = kube::Verb::kGet, .why = "its system UUID"}};
Result<ipam::CellOwner> cell_owner(kube::Client& client, const std::string& node, const MachineIdentity& machine,
                                   std::stop_token stop);

}  // namespace railbed::agent
