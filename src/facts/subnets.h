// SPDX-License-Identifier: Apache-2.0
// Interfaces of one machine that have addresses in one subnet.
//
// Why: Linux answers ARP for any of its addresses on any interface, and sends from the first interface with a route to
// the subnet. TCP often survives that; RoCE packets arrive at a port without their queue pair and time out. Sysctls and
// rules of routing can keep such interfaces apart, and are read only where there are any.
// Threading: pure functions; read_arp_settings() as the file tree and the port.
// Failure: none; settings that cannot be read are absent.
// Source: Documentation/networking/ip-sysctl.rst.
#pragma once

#include <vector>

#include "base/ip.h"
#include "facts/attributes.h"
#include "facts/node_facts.h"
#include "os/ports/links.h"

namespace railbed::facts {

// An interface with its address in the subnet.
struct SubnetMember {
  const NetInterface* netdev = nullptr;
  IpPrefix address;
};

struct SharedSubnet {
  IpPrefix network;
  std::vector<SubnetMember> members;  // at least two interfaces, each once
};

// Of interfaces that are not off: those of NICs and VFs, bonds and VLANs. Bridges, macvlans and the like share a subnet
// with their interface on purpose, interfaces of different VRFs never meet, and link-local addresses are everywhere.
std::vector<SharedSubnet> shared_subnets(const NodeFacts& facts);

// Whether the settings keep this interface apart from others of its subnet.
bool is_kept_apart(const NetInterface& netdev, IpFamily family);

// Reads ArpSettings of all members. `links` may be null: then rules are unknown.
void read_arp_settings(Attributes& attributes, os::LinkPort* links, NodeFacts& facts);

}  // namespace railbed::facts
