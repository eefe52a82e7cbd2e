// SPDX-License-Identifier: Apache-2.0
// Kubernetes quantities: memory, CPUs, counts of devices.
//
// Why: for an extended resource the API server accepts "4k", "1Ki", "2.0" and "3000m" as well as 4; the schema and all
// rules read them with the same list of suffixes.
// Spec: apimachinery's resource.Quantity.
// Threading: pure.
// Failure: nothing for a text that is not a quantity or not an integer.
#pragma once

#include <cstdint>
#include <optional>

#include "doc/value.h"

namespace railbed::schema {

// "64Gi", "500m", "1e3", 8
bool is_quantity(const doc::Value& value);
// The nearest number of that size, for comparisons; infinity for what no double holds.
std::optional<double> approximate_quantity(const doc::Value& value);
// What must be an integer: a number or a text, with at most 18 digits. What is more than 2^63-1 by its suffix is
// 2^63-1.
std::optional<int64_t> whole_quantity(const doc::Value& value);
// The same in thousandths: "1500m", "1.5".
std::optional<int64_t> milli_quantity(const doc::Value& value);

}  // namespace railbed::schema
