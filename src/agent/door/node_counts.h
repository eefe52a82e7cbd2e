// SPDX-License-Identifier: Apache-2.0
// The number of addresses, VFs and attachments, for the metrics.
//
// Threading: any thread; waits briefly for a Turn and skips what needs one if none is available in time.
// Failure: none, what cannot be read is not reported.
#pragma once

#include "agent/context/metrics.h"
#include "agent/engine.h"

namespace railbed::agent {

// Counts the VFs below /sys/bus/pci. Attached VFs come from the records; one that the machine does not have (any more)
// counts as missing, wherever its interface is.
NodeCounts count_node(Engine& engine);

}  // namespace railbed::agent
