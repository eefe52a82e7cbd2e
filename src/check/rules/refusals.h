// SPDX-License-Identifier: Apache-2.0
// The rules that data/refusals.yaml consists of: forms of values, and fields that do not go together.
//
// Why: an API server has hundreds of such checks, and each is a path and a form. A row says which; one reader finds the
// places of all of them, in pods of all kinds.
// Threading: pure functions over a constant table.
// Failure: none; a row that is wrong is a test's business (refusals_test.cc).
// Source: Kubernetes, pkg/apis/core/validation; its kubelet; Linux.
#pragma once

#include "check/rules/rule.h"

namespace railbed::check {

// RB-ADM-013
void value_of_a_wrong_form(const Input& in, Findings& out);
// RB-ADM-014
void fields_that_do_not_go_together(const Input& in, Findings& out);

}  // namespace railbed::check
