// SPDX-License-Identifier: Apache-2.0
// PCIe links that are slower than they could be, or than what they have to carry: of NICs, GPUs and switches.
//
// What a link could be is known only where both of its ends report it. Of GPUs and switches only the lanes are
// compared: an idle GPU lowers its speed, and some switches report one that is not theirs.
// Threading: pure functions.
// Failure: none; facts that are absent are not problems.
#pragma once

#include <string>
#include <vector>

#include "facts/node_facts.h"
#include "findings/finding.h"

namespace railbed::facts {

std::vector<findings::Finding> pcie_troubles_of(const Nic& nic);
std::vector<findings::Finding> pcie_troubles_of_gpu(size_t number, const PciDevice& gpu);
std::vector<findings::Finding> pcie_troubles_of_switches(const NodeFacts& facts);

// "32 GT/s x16"
std::string pcie_text(double speed_gts, int width);
// What both ends of the link can; empty where the link is below that of its device and the other end reports nothing.
std::string pcie_possible(const PcieLink& link);
// Whether the link is below what both of its ends can; false where one of them reports nothing.
bool is_below_possible(const PcieLink& link);
// The data rate that the link carries in one direction, without the encoding of the line: 126 of 16 GT/s x8.
double pcie_gbps(const PcieLink& link);

}  // namespace railbed::facts
