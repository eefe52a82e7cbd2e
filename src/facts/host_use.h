// SPDX-License-Identifier: Apache-2.0
// How the host itself uses a NIC, so that no pod should take it.
//
// Threading: pure functions.
// Failure: none; facts without addresses (NodeFacts::unavailable) hide that use.
#pragma once

#include <string>

#include "facts/node_facts.h"

namespace railbed::facts {

// "address 10.0.0.5/24, default route, port of bond0, carries vlan eth0.7"; empty when the host does not use the NIC.
// IPv6 link-local addresses do not count: every interface that is up has one.
std::string host_use(const Nic& nic, const NodeFacts& node);

}  // namespace railbed::facts
