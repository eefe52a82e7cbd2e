// SPDX-License-Identifier: Apache-2.0
// RB-POD-001 over whole bundles: networks that pods ask for and nobody defines.
//
// Why: the graph tells it of Pods and of the networks that it reads. A bundle has workloads too, and networks
// of the Network Operator, and OpenShift makes some of its own Network object; and a file with a pod alone
// says nothing about networks, which are elsewhere then. Threading: a pure function. Failure: none.
#pragma once

#include "check/rules/lookups.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Removes wrong findings of the graph about missing networks, and adds those that it cannot see.
void tell_missing_networks(const Bundle& bundle, const Views& views, doc::Diagnostics& findings);

}  // namespace railbed::check
