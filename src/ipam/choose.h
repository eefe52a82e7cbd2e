// SPDX-License-Identifier: Apache-2.0
// The decision behind assign() and the Allocator, over any list of allocated addresses.
// Threading: pure, as far as its inputs are.
// Failure: as assign()'s.
#pragma once

#include <string>
#include <vector>

#include "ipam/allocator.h"
#include "ipam/assign.h"
#include "ipam/range_search.h"

namespace railbed::ipam {

Result<std::vector<Assigned>> choose(const api::IpamConfig& config, const std::string& network, const TakenView& taken,
                                     BlockSource& blocks, const std::vector<std::string>& requested,
                                     const Owner& owner);

}  // namespace railbed::ipam
