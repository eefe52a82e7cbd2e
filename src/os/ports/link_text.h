// SPDX-License-Identifier: Apache-2.0
// How changes of interfaces are named in messages: the same for the real kernel and the fake one.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "os/ports/links.h"

namespace railbed::os {

std::string describe(const LinkChange& change);  // " to /run/netns/a as net1 mtu 9000"; empty for no change
std::string describe(const NewLink& link);       // "net1 type macvlan in /run/netns/a"
std::string describe(const Route& route);
std::string describe(const Rule& rule);  // "192.0.2.0/24 via 10.0.0.1 metric 5"

// The settings of `change`, one by one, each with its description: "vlan 5 qos 0 proto 802.1Q".
std::vector<std::pair<std::string, VfChange>> single_changes(const VfChange& change);

}  // namespace railbed::os
