// SPDX-License-Identifier: Apache-2.0
// Which InfiniBand ports of a node can reach each other: same subnet prefix and same subnet manager.
//
// Two fabrics that both kept the default prefix (fe80::/64) and whose managers have the same LID look like one from
// here; only a query to the manager (its GUID) distinguishes them. Ports that no manager has configured (not active, or
// LID 65535) belong to none.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <vector>

#include "facts/node_facts.h"

namespace railbed::facts {

// In the order of their first port, naturally by name; VFs' ports are left out.
std::vector<Fabric> group_fabrics(const std::vector<Nic>& nics);

}  // namespace railbed::facts
