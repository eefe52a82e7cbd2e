// SPDX-License-Identifier: Apache-2.0
// The results of the last plan, kept in the state for `status`: the policies' outcomes, the deferred changes, and
// errors of pods.
//
// Threading: pure functions.
// Failure: a note that cannot be read (of another version) counts as absent.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/step.h"

namespace railbed::node {

inline constexpr const char* kPlanNote = "plan";

struct PlanNote {
  std::string node;
  std::vector<graph::PolicyOutcome> policies;  // without their places
  std::vector<std::string> held_back;
  std::map<std::string, std::string> pod_errors;  // "namespace/name" → the error's story
};

std::string to_json(const PlanNote& note);
std::optional<PlanNote> parse_plan_note(const std::string& text);

}  // namespace railbed::node
