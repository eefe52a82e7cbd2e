// SPDX-License-Identifier: Apache-2.0
// RB-NET-001 over whole bundles: resources that networks take their VFs from and no policy creates.
//
// Why: the graph knows policies alone. A bundle also has device plugins, and what was not read may create the resource:
// an error needs a closed world and a policy with nearly this name. Without the closed world it is a note that says
// what was not read.
// Threading: a pure function. Failure: none.
#pragma once

#include "check/read/open_world.h"
#include "check/rules/lookups.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Weighs what the graph says of missing resources, and removes what device plugins of the bundle create.
void weigh_missing_resources(const Bundle& bundle, const Views& views, const World& world, doc::Diagnostics& findings);

}  // namespace railbed::check
