// SPDX-License-Identifier: Apache-2.0
// Why a node cannot provide VFs, and what to check, in the order in which the cause is usually found.
//
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/node_facts.h"

namespace railbed::facts {

// In NodeFacts::unavailable where nothing lists PCI functions, so that their absence is no fact.
inline constexpr std::string_view kPciFunctions = "PCI functions";

// Sentences for people; none when at least one NIC can make VFs.
std::vector<std::string> sriov_advice(const NodeFacts& facts);

}  // namespace railbed::facts
