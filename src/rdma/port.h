// SPDX-License-Identifier: Apache-2.0
// Names a port of an RDMA device, and the network interface that it belongs to.
//
// Why: a device and a port number passed apart get mixed up, and counters of pauses are the interface's.
// Threading: a value.
// Failure: none.
#pragma once

#include <cstdint>
#include <string>

namespace railbed::rdma {

struct Port {
  std::string device;  // "mlx5_0"; "": none
  int64_t port = 1;
  std::string netdev;  // "": none
  friend bool operator==(const Port&, const Port&) = default;
};
inline std::string text_of(const Port& port) {  // "mlx5_0:1"
  return port.device + ":" + std::to_string(port.port);
}

}  // namespace railbed::rdma
