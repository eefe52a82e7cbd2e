// SPDX-License-Identifier: Apache-2.0
// RB-POD-001 and RB-NET-001 over whole bundles: networks that pods request and no object defines, and resources that
// networks take their VFs from and no policy creates.
//
// Why: the graph reports it for Pods and for the networks that it reads. A bundle also has workloads, and networks of
// the Network Operator, and OpenShift creates some from its own Network object; and a file with only a pod says nothing
// about networks, which are then elsewhere. A namespace that is not written fits any, and what was not read may make
// the network: only where neither holds is it an error. The graph knows no device plugins either, which a bundle may
// have: of a resource, an error needs a closed world and a policy with nearly this name. Threading: pure functions.
// Failure: none.
#pragma once

#include "check/read/open_world.h"
#include "check/rules/lookups.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Removes wrong findings of the graph about missing networks, and adds those that it cannot see.
void report_missing_networks(const Bundle& bundle, const Views& views, const World& world, doc::Diagnostics& findings);
// Weighs what the graph says of missing resources, and removes what device plugins of the bundle create.
void weigh_missing_resources(const Bundle& bundle, const Views& views, const World& world, doc::Diagnostics& findings);

}  // namespace railbed::check
