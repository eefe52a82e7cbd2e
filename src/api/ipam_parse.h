// SPDX-License-Identifier: Apache-2.0
// Types of IPAM plugins: those that railbed implements itself, and those that it only knows by name.
#pragma once

#include <string_view>
#include <vector>

#include "api/ipam.h"

namespace railbed::api {

// nullopt for a type that railbed does not implement.
std::optional<IpamType> ipam_type(std::string_view name);

// Like parse_ipam, but a type that railbed does not implement is only a warning: another CNI plugin may know it.
void check_ipam(const doc::Value& block, doc::Diagnostics& diagnostics);

}  // namespace railbed::api
