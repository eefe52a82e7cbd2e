// SPDX-License-Identifier: Apache-2.0
// What a check is asked for, by its command line and by project files together.
//
// Threading: one thread. Failure: an Error for names of rules and networks that are none, and for project files that
// contradict each other.
#pragma once

#include "base/error.h"
#include "check_projects.h"
#include "check_run.h"

namespace railbed {

// Completes `options.settings` and `policy`; the command line prevails over project files. `policy` has its places
// already and outlives the settings.
Result<void> settle(CheckOptions& options, const CheckProjects& projects, check::Policy& policy);

// What --show-config prints, after settle().
doc::Value config_value(const CheckOptions& options, const CheckProjects& projects);

}  // namespace railbed
