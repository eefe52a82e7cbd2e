// SPDX-License-Identifier: Apache-2.0
// Puts what the scans found together: interfaces and RDMA devices onto the functions they belong to.
//
// Why: the scans are linear and know nothing of each other; here everything meets by PCI address (or, for
// soft RDMA, by the name of the interface). Threading: pure, but for the attributes of ports that share a
// function. Failure: none; what belongs to no function becomes a virtual one.
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
// zero GUIDs, which nobody has set.
void apply_vf_info(Nic& nic, const std::vector<os::VfInfo>& infos);

}  // namespace railbed::facts
