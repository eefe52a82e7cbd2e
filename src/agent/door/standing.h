// SPDX-License-Identifier: Apache-2.0
// How many addresses, VFs and attachments there are, as the metrics tell it.
//
// Threading: any thread; waits a moment for a turn and leaves out what needs one when there is none in time.
// Failure: none, what cannot be read is not told.
#pragma once

#include "agent/door/metrics.h"
#include "agent/engine.h"

namespace railbed::agent {

// VFs are those below /sys/bus/pci; attached ones stand in the records, and are missing when the machine does
// not have them (any more), wherever their interface is.
Standing standing(Engine& engine);

}  // namespace railbed::agent
