// SPDX-License-Identifier: Apache-2.0
// Merges the results of the scans: assigns interfaces and RDMA devices to the functions they belong to.
//
// Why: the scans are linear and independent of each other; here their results are joined by PCI address (or, for soft
// RDMA, by the name of the interface).
// Threading: pure, except for the attributes of ports that share a function.
// Failure: none; what belongs to no function becomes a virtual one.
#pragma once

#include <vector>

#include "facts/attributes.h"
#include "facts/net.h"
#include "facts/node_facts.h"
#include "facts/pci.h"
#include "facts/rdma.h"
#include "os/ports/links.h"

namespace railbed::facts {

// Fills nics, virtual_netdevs and virtual_rdma of `facts`.
void assemble(Attributes& attributes, PciScan pci, std::vector<FoundInterface> interfaces,
              std::vector<FoundRdma> devices, NodeFacts& facts);

// Adds what a PF reports about its VFs, but no MAC of InfiniBand VFs, where it is the front of a longer address, and no
// zero GUIDs, which no tool has set.
void apply_vf_info(Nic& nic, const std::vector<os::VfInfo>& infos);

}  // namespace railbed::facts
