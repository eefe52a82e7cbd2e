// SPDX-License-Identifier: Apache-2.0
// Which interface and which RDMA port of a NIC are the same port of the card.
//
// Why: a NIC can have several of both (two ports on one function, InfiniBand and Ethernet; soft RDMA alongside
// hardware), and their positions do not identify them.
// Threading: pure functions; the result points into the NIC.
// Failure: none.
#pragma once

#include <vector>

#include "facts/node_facts.h"

namespace railbed::facts {

// An interface, an RDMA port, or both. `device` is set with `rdma`, and alone for a device without ports.
struct CardPort {
  const NetInterface* netdev = nullptr;
  const RdmaDevice* device = nullptr;
  const RdmaPort* rdma = nullptr;
};

// RDMA ports in their order with the interface that each names; one that names none takes the first interface of its
// kind (IPoIB or not) that none names. Then the interfaces that are left. Never empty.
std::vector<CardPort> ports_of(const Nic& nic);

}  // namespace railbed::facts
