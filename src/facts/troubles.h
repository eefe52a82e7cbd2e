// SPDX-License-Identifier: Apache-2.0
// Problems of a node's NICs and GPUs, a finding each: problems that otherwise show only after a slow run. Ids are
// explained in docs/findings/machine.md.
//
// Ports that are not active, links (of the network and of PCIe) that came up slower than they can, interfaces that are
// down, have a small MTU or share a subnet, VFs without a driver, names and GPUs that are not where they should be, and
// equal cards that differ in firmware or in SR-IOV.
// Threading: pure functions.
// Failure: none; facts that are absent are not problems.
#pragma once

#include <vector>

#include "facts/node_facts.h"
#include "findings/finding.h"

namespace railbed::facts {

// In the order of the NICs. Evidence names the file of sysfs in which a person finds the value, also where netlink
// answered; the time is absent, since facts have none.
std::vector<findings::Finding> troubles_of(const NodeFacts& facts);

}  // namespace railbed::facts
