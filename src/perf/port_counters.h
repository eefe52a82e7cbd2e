// SPDX-License-Identifier: Apache-2.0
// What a port counted while it was measured: the proof of the path, and what went wrong on it.
//
// Why: an average says how much came; that it came over this port, and what had to be sent again or was slowed down for
// it, only the device's own counters tell. Names are the kernel's. Threading: any. Failure: none; what cannot be read
// is absent. Counters are the port's, so other traffic on it is in them, too. Source:
// Documentation/ABI/stable/sysfs-class-infiniband; pause frames are the interface's (pause_counters.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "os/ports/file_tree.h"
#include "os/ports/link_statistics.h"
#include "perf/measurement.h"

namespace railbed::perf {

// All of the port's counters and hw_counters, and what its interface's driver says of pause frames (`interfaces` may be
// null). The kernel counts port_xmit_data and port_rcv_data in words of 4 bytes:
// here they are port_xmit_data_bytes and port_rcv_data_bytes.
PortCounters read_counters(const os::FileTree& files, os::LinkStatistics* interfaces, const Endpoint& end);
// What moved. A counter that went back was reset, and is left out.
PortCounters moved(const PortCounters& before, const PortCounters& after);

}  // namespace railbed::perf
