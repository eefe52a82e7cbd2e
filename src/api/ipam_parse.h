// SPDX-License-Identifier: Apache-2.0
// Types of IPAM plugins: those that railbed implements itself, and those that it only knows by name; and what is wrong
// with their blocks beyond what the schemas say.
//
// Threading: pure functions. Failure: diagnostics RB-IPAM-….
#pragma once

#include <string_view>

#include "api/ipam.h"

namespace railbed::api {

// nullopt for a type that railbed does not implement.
std::optional<IpamType> ipam_type(std::string_view name);

// What the schema of a block cannot say: addresses, ranges, routes. A type that railbed does not implement is only a
// warning: another CNI plugin may know it.
void check_ipam(const doc::Value& block, doc::Diagnostics& diagnostics);

}  // namespace railbed::api
