// SPDX-License-Identifier: Apache-2.0
// Kubernetes quantities that must be integers: counts of devices.
//
// Why: for an extended resource the API server accepts "4k", "1Ki", "2.0" and "3000m" as well as 4.
// Spec: apimachinery's resource.Quantity.
// Threading: pure.
// Failure: nothing for a text that is not a quantity or not an integer.
#pragma once

#include <cstdint>
#include <optional>

#include "doc/value.h"

namespace railbed::api {

// A number or a text, with at most 18 digits. What is more than 2^63-1 by its suffix is 2^63-1.
std::optional<int64_t> whole_quantity(const doc::Value& value);

}  // namespace railbed::api
