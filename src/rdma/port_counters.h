// SPDX-License-Identifier: Apache-2.0
// The counters of a port during a measurement: they prove the path, and show errors on it.
//
// Why: an average shows how much arrived; only the device's own counters show that it used this port, and what was
// retransmitted or slowed down. Names are the kernel's.
// Threading: any.
// Failure: none; what cannot be read is absent. Counters are the port's, so they include other traffic on it.
// Source: Documentation/ABI/stable/sysfs-class-infiniband; pause frames are the interface's (pause_counters.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "os/ports/file_tree.h"
#include "os/ports/link_statistics.h"
#include "rdma/port.h"

namespace railbed::rdma {

// By the kernel's names.
using PortCounters = std::map<std::string, int64_t>;
inline constexpr size_t kMaxCounters = 256;

// All of the port's counters and hw_counters, and what its interface's driver says of pause frames (`interfaces` may be
// null). The kernel counts port_xmit_data and port_rcv_data in words of 4 bytes:
// here they are port_xmit_data_bytes and port_rcv_data_bytes.
PortCounters read_counters(const os::FileTree& files, os::LinkStatistics* interfaces, const Port& port);
// What moved. A counter that went back was reset, and is left out.
PortCounters moved(const PortCounters& before, const PortCounters& after);

}  // namespace railbed::rdma
