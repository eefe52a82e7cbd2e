// SPDX-License-Identifier: Apache-2.0
// The condition Ready in the status of an object.
// Spec: metav1.Condition.
// Threading: pure.
// Failure: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "doc/value.h"

namespace railbed::controller {

// What the condition says.
struct Readiness {
  std::string_view status;  // "True", "False", "Unknown"
  std::string reason;       // one word in CamelCase
  std::string message;
};

// `before` is the stored status of the object, or null: the time of the last change is kept from there where the
// condition has not changed. `now` is RFC 3339.
doc::Value ready_condition(const doc::Value& before, int64_t generation, std::string_view now,
                           const Readiness& readiness);

}  // namespace railbed::controller
