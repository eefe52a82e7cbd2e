// SPDX-License-Identifier: Apache-2.0
// Rules about the ids and rates of cards, by data/pci_ids.yaml.
//
// Why: a policy selects by a number that nobody can read, and one digit is another card. Threading: pure.
// Failure: findings.
#pragma once

#include "check/rules/rule.h"

namespace railbed::check {

void slower_than_said(const Input& in, Findings& out);
void vf_id_for_pf(const Input& in, Findings& out);
void pool_of_nothing(const Input& in, Findings& out);

}  // namespace railbed::check
