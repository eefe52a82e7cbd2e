// SPDX-License-Identifier: Apache-2.0
// What the last plan said, kept in the state for `status`: the policies' outcomes and what is held back, and
// what went wrong with pods.
//
// Threading: pure functions. Failure: a note that cannot be read (of another version) is as none.
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
