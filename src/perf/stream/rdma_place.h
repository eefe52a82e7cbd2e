// SPDX-License-Identifier: Apache-2.0
// Which RDMA device, port and GID a test uses.
//
// Why: a user knows the peer's address, not that it is behind mlx5_4. Without a name, the device is the one whose port
// belongs to the interface that has the local address of the control connection.
// Threading: any.
// Failure: kNotFound lists the existing devices; kIo if the port is down.
#pragma once

#include <optional>
#include <string>

#include "os/ports/kernel.h"
#include "perf/measurement.h"
#include "perf/stream/verbs.h"
#include "rdma/gid.h"

namespace railbed::perf {

struct PlaceRequest {
  std::string device;  // "mlx5_0", "mlx5_0:2"; "": chosen by address
  rdma::GidRule gid_rule;
};

struct RdmaPlace {
  RdmaDevice device;
  PortFacts port;
  rdma::GidChoice gid;
  Endpoint endpoint;
};

// `toward` is the local address of the control connection.
Result<RdmaPlace> find_place(os::Kernel& kernel, const PlaceRequest& request, const IpAddress& toward);

// Pure. Whether this port belongs to the interface: by a GID's interface and address, or, on InfiniBand, by the port
// GID at the end of the interface's 20-byte IPoIB address.
bool port_belongs_to(const PortFacts& port, const rdma::LocalInterface& interface, const rdma::LocalNetwork& network);

}  // namespace railbed::perf
