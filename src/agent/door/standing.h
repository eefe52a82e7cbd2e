// SPDX-License-Identifier: Apache-2.0
// How many addresses, VFs and attachments there are, as the metrics tell it.
//
// Threading: any thread; waits a moment for a turn and leaves out what needs one when there is none in time.
// Failure: none, what cannot be read is not told.
#pragma once

#include "agent/door/metrics.h"
#include "agent/engine.h"

namespace railbed::agent {

// Counts the VFs below /sys/bus/pci. Attached VFs come from the records; one that the machine does not have (any more)
// counts as missing, wherever its interface is.
Standing standing(Engine& engine);

}  // namespace railbed::agent
