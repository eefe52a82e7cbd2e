// SPDX-License-Identifier: Apache-2.0
// Several nodes side by side: what `railbed discover --facts A B …` prints.
//
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "doc/value.h"
#include "facts/fleet.h"
#include "report/table.h"

namespace railbed::report {

// Per group its nodes, a table of its rails, and a line per difference.
std::string fleet_text(const std::vector<facts::FleetGroup>& groups, Colour colour);

// The same for programs, of kind Fleet.
doc::Value fleet_value(const std::vector<facts::FleetGroup>& groups);

}  // namespace railbed::report
