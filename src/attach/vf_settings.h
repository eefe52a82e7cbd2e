// SPDX-License-Identifier: Apache-2.0
// Which VF settings have to be changed.
// Threading: pure functions.
// Failure: none.
#pragma once

#include "os/ports/links.h"

namespace railbed::attach {

// The settings of `wanted` that differ from the PF's report: drivers are not asked for settings that already hold, nor
// for any that is not desired.
os::VfChange differing(const os::VfChange& wanted, const os::VfInfo& now);

// The present values of the settings in `change`.
os::VfChange present(const os::VfChange& change, const os::VfInfo& now);

}  // namespace railbed::attach
