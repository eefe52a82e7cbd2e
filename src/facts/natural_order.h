// SPDX-License-Identifier: Apache-2.0
// The order in which people count names: "mlx5_2" before "mlx5_10".
//
// Runs of digits compare as numbers (of any length), everything else byte by byte; names that are equal so
// far ("a01", "a1") fall back to their bytes, so that the order is total. Threading, failure: none.
#pragma once

#include <string_view>

namespace railbed::facts {

bool natural_less(std::string_view a, std::string_view b);

}  // namespace railbed::facts
