// SPDX-License-Identifier: Apache-2.0
// The interfaces and addresses of this network namespace.
//
// Why: they determine which RDMA device and GID belong to the path to a peer.
// Threading: one netlink port per call, any thread.
// Failure: as os::LinkPort.
#pragma once

#include "base/error.h"
#include "os/ports/kernel.h"
#include "rdma/gid.h"

namespace railbed::rdma {

Result<LocalNetwork> read_local_network(os::Kernel& kernel);
// The interface that has `address`; null when none in this namespace has it.
const LocalInterface* interface_of(const LocalNetwork& network, const IpAddress& address);

}  // namespace railbed::rdma
