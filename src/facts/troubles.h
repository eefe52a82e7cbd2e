// SPDX-License-Identifier: Apache-2.0
// Problems of a node's NICs and GPUs, a finding each: problems that otherwise show only after a slow run. Ids are
// explained in docs/findings/machine.md.
//
// Ports that are not active, links (of the network and of PCIe) that came up slower than they can, interfaces that are
// down, and equal cards that differ in firmware or in SR-IOV.
// Threading: pure functions.
// Failure: none; facts that are absent are not problems.
#pragma once

#include <string>
#include <vector>

#include "facts/node_facts.h"
#include "findings/finding.h"

namespace railbed::facts {

// In the order of the NICs. Evidence names the file of sysfs in which a person finds the value, also where netlink
// answered; the time is absent, since facts have none.
std::vector<findings::Finding> troubles_of(const NodeFacts& facts);

// "32 GT/s x16"
std::string pcie_text(double speed_gts, int width);
// What both ends of the link can, as far as both tell.
std::string pcie_possible(const PcieLink& link);
bool is_below_possible(const PcieLink& link);

}  // namespace railbed::facts
