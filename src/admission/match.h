// SPDX-License-Identifier: Apache-2.0
// Which pods the webhook is called for, as the API server decides it and as railbed does.
//
// Why: under `failurePolicy: Fail` a pod that costs no call cannot be refused because railbed is away. The API server
// decides with expressions (matchConditions) in the webhook's configuration; where it has none of them (before 1.28),
// railbed must decide the same itself. Both are here, and a test evaluates the expressions beside the function. An
// expression that fails refuses the pod, so every one of them asks `has` first.
// Threading: pure functions.
// Failure: none.
// Spec: admissionregistration.k8s.io/v1 MatchCondition; CEL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::admission {

struct MatchCondition {
  std::string name;
  std::string expression;  // CEL
  friend bool operator==(const MatchCondition&, const MatchCondition&) = default;
};

// Those of the webhook that completes pods; all of them must hold. `labels`: of injections that users have defined.
// A key that no pod can have, because it is no label, is left out.
std::vector<MatchCondition> match_conditions(const std::vector<std::string>& labels);

// The same decision.
bool must_call(const doc::Value& pod, const std::vector<std::string>& labels);

}  // namespace railbed::admission
