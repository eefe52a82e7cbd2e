// SPDX-License-Identifier: Apache-2.0
// What a process must be allowed to do to change a machine: `up`, `down` and the agent ask before they begin.
//
// Threading: one thread. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "os/ports/kernel.h"

namespace railbed {

// The capabilities for changing a machine that this process lacks.
std::vector<std::string> missing_capabilities(os::Kernel& kernel);

}  // namespace railbed
