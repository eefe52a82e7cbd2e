// SPDX-License-Identifier: Apache-2.0
// Whether a value increases or decreases over time: a least-squares line, with its error.
//
// Why: a clock that warms up, a queue that fills slowly or a neighbour that starts are invisible in percentiles of the
// whole. The error is that of the slope, from the residuals; a slope within twice its error counts as none. Pure.
// Threading: none.
// Failure: nothing for fewer than three points, or for points of one moment.
#pragma once

#include <optional>
#include <span>

namespace railbed::perf {

struct TrendPoint {
  double at = 0;
  double value = 0;
};
struct Trend {
  double slope = 0;  // value per unit of time
  double error = 0;  // standard error of it
  bool is_clear() const { return slope > 2 * error || slope < -2 * error; }
  friend bool operator==(const Trend&, const Trend&) = default;
};
std::optional<Trend> trend_of(std::span<const TrendPoint> points);

}  // namespace railbed::perf
