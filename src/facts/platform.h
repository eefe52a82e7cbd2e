// SPDX-License-Identifier: Apache-2.0
// The cloud whose machine a node is.
//
// Why: the virtual networks of clouds drop packets whose MAC or IP address they did not assign, so some plugin types
// work on bare metal only.
// Threading: pure functions.
// Failure: none; empty for bare metal, for private clouds and for what has no row.
// Source: the fields of DMI that cloud-init asks; the providerIDs of the clouds' controllers.
#pragma once

#include <string>
#include <string_view>

#include "facts/attributes.h"

namespace railbed::facts {

// By DMI, which /sys/class/dmi/id has: "AWS".
std::string read_platform(Attributes& attributes);
// By spec.providerID of a Node: "aws:///us-east-1a/i-0abc" is "AWS".
std::string platform_of(std::string_view provider_id);

}  // namespace railbed::facts
