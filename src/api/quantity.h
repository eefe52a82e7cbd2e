// SPDX-License-Identifier: Apache-2.0
// Kubernetes quantities that have to be whole numbers: counts of devices.
//
// Why: the API server takes "4k", "1Ki", "2.0" and "3000m" for an extended resource as well as 4. Spec:
// apimachinery's resource.Quantity. Threading: pure. Failure: nothing for what is no quantity or no whole number.
#pragma once

#include <cstdint>
#include <optional>

#include "doc/value.h"

namespace railbed::api {

// A number or a text, with at most 18 digits. What is more than 2^63-1 by its suffix is 2^63-1.
std::optional<int64_t> whole_quantity(const doc::Value& value);

}  // namespace railbed::api
