// SPDX-License-Identifier: Apache-2.0
// The middle of some values.
//
// Why: of an even number there are two, and which one is taken decides about outliers; callers say it by the name.
// Threading: pure. Failure: `values` must not be empty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/check.h"

namespace railbed {

// The smaller and the greater of both middles; of an odd number they are the same.
template <typename T>
T median_low(std::vector<T> values) {
  RAILBED_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}
template <typename T>
T median_high(std::vector<T> values) {
  RAILBED_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The mean of both middles.
inline double median_mean(const std::vector<double>& values) {
  return (median_low(values) + median_high(values)) / 2;
}

}  // namespace railbed
