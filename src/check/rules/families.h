// SPDX-License-Identifier: Apache-2.0
// The families of rules: one function per file rules_<family>.cc; rules.cc puts them into one list.
#pragma once

#include <span>

#include "check/rules/rule.h"

namespace railbed::check {

std::span<const Rule> address_rules();
std::span<const Rule> resource_rules();
std::span<const Rule> policy_rules();
std::span<const Rule> label_rules();
std::span<const Rule> rail_rules();
std::span<const Rule> rdma_rules();
std::span<const Rule> infiniband_rules();
std::span<const Rule> mtu_rules();
std::span<const Rule> environment_rules();
std::span<const Rule> operator_rules();
std::span<const Rule> command_rules();
std::span<const Rule> machine_environment_rules();
std::span<const Rule> privilege_rules();
std::span<const Rule> admission_rules();
std::span<const Rule> demand_rules();
std::span<const Rule> network_rules();
std::span<const Rule> reference_rules();
std::span<const Rule> placement_rules();
std::span<const Rule> bandwidth_rules();
std::span<const Rule> hardware_rules();
std::span<const Rule> serving_rules();

}  // namespace railbed::check
