// SPDX-License-Identifier: Apache-2.0
// Which VF settings have to be changed. Threading: pure functions. Failure: none.
#pragma once

#include "os/ports/links.h"

namespace railbed::attach {

// Those of `wanted` that differ from what the PF says: a driver is never asked for a setting that it has
// already, nor for one that nobody wants.
os::VfChange differing(const os::VfChange& wanted, const os::VfInfo& now);

// The present values of the settings that `change` changes.
os::VfChange present(const os::VfChange& change, const os::VfInfo& now);

}  // namespace railbed::attach
