// SPDX-License-Identifier: Apache-2.0
// The MAC address, GUID and PCI address of a VF, derived from its PF.
//
// Why: kernels assign random MACs to VFs and a zero GUID to InfiniBand VFs, so neighbours, DHCP and the subnet manager
// see new hosts after every reboot, and setting a GUID later requires a re-bind under a running pod. Here they are a
// function of (PF, index), set once when the VF is created. The PF is identified by its own MAC or port GUID and by its
// PCI address (ports of a bond share one MAC); a PF with neither MAC nor GUID by the node's name.
//
// MAC: locally administered, unicast; 36 bits from the PF, 10 from the index, so VFs of one PF never collide and 8,000
// PFs on one network collide with a probability of 0.05 %. GUID: local bit set, 46 + 10 bits.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <optional>
#include <string_view>

#include "facts/node_facts.h"

namespace railbed::plan {

inline constexpr int kMaxVfs = 1024;  // how many indexes have distinct identities

class PfIdentity {
 public:
  PfIdentity(std::string_view node, const facts::Nic& nic);
  MacAddress vf_mac(VfIndex vf) const;
  Guid vf_guid(VfIndex vf) const;  // for both the node and the port

 private:
  uint64_t seed_;
};

// The address of the existing VF, otherwise from offset and stride; nullopt where those are unknown.
std::optional<PciAddress> vf_address(const facts::Nic& nic, VfIndex vf);

}  // namespace railbed::plan
