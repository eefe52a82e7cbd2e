// SPDX-License-Identifier: Apache-2.0
// The only list of families. A new family needs its function in families.h, a row here, and a page in docs/check.
#include <algorithm>
#include <iterator>

#include "check/rules/families.h"
#include "check/rules/maturity.h"
#include "check/rules/rule.h"

namespace railbed::check {

namespace {
constexpr std::span<const Rule> (*kFamilies[])() = {
    address_rules,   resource_rules,    policy_rules,   infiniband_rules, rail_rules,      label_rules,
    rdma_rules,      environment_rules, operator_rules, mtu_rules,        command_rules,   machine_environment_rules,
    privilege_rules, admission_rules,   demand_rules,   network_rules,    reference_rules, placement_rules,
    bandwidth_rules, hardware_rules,    serving_rules,
};
}  // namespace

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const auto family : kFamilies) std::ranges::copy(family(), std::back_inserter(rules));
  for (Rule& rule : rules) {
    const Maturity& maturity = maturity_of(rule.id);
    rule.since = maturity.since;
    rule.state = maturity.state;
  }
  return rules;
}

}  // namespace railbed::check
