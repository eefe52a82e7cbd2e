// SPDX-License-Identifier: Apache-2.0
// What findings of a node's hardware name: the card, and the file of sysfs in which a person finds a value.
//
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/node_facts.h"
#include "findings/finding.h"

namespace railbed::facts {

// "mlx5_2 (0000:3b:00.0)"; the interface's name of a card without RDMA, the address alone of one without both.
std::string name_of(const Nic& nic);

// "32 GT/s"
std::string gts_text(double speed_gts);

findings::Evidence in_sysfs(std::string file, std::string value);
findings::Evidence of_function(PciAddress address, std::string_view attribute, std::string value);
findings::Evidence of_port(const RdmaDevice& device, const RdmaPort& port, std::string_view attribute,
                           std::string value);
findings::Evidence of_interface(const NetInterface& netdev, std::string_view attribute, std::string value);
// The speed and the lanes that a link has, and those that its ends can; `above` is the port above the function.
std::vector<findings::Evidence> lanes_of(PciAddress function, std::optional<PciAddress> above, const PcieLink& link);
std::vector<findings::Evidence> speed_and_lanes_of(PciAddress function, std::optional<PciAddress> above,
                                                   const PcieLink& link);

findings::Subject subject_of(const PciDevice& pci);
findings::Subject subject_of(const NetInterface& netdev);
findings::Subject subject_of(const RdmaDevice& device, const RdmaPort& port);

}  // namespace railbed::facts
