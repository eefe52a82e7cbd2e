// SPDX-License-Identifier: Apache-2.0
// The natural order of names: "mlx5_2" before "mlx5_10".
//
// Runs of digits compare as numbers (of any length), everything else byte by byte; names that are equal by this rule
// ("a01", "a1") are ordered by their bytes, so that the order is total.
// Threading, failure: none.
#pragma once

#include <string_view>

namespace railbed::facts {

bool natural_less(std::string_view a, std::string_view b);

}  // namespace railbed::facts
