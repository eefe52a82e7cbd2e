// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/trend.h"

#include <cmath>
#include <cstddef>

namespace railbed::perf {

std::optional<Trend> trend_of(std::span<const TrendPoint> points) {
  if (points.size() < 3) return std::nullopt;
  const auto count = static_cast<double>(points.size());
  double mean_at = 0;
  double mean_value = 0;
  for (const TrendPoint& one : points) {
    mean_at += one.at / count;
    mean_value += one.value / count;
  }
  double square = 0;
  double product = 0;
  for (const TrendPoint& one : points) {
    square += (one.at - mean_at) * (one.at - mean_at);
    product += (one.at - mean_at) * (one.value - mean_value);
  }
  if (square <= 0) return std::nullopt;
  const double slope = product / square;
  double left = 0;
  for (const TrendPoint& one : points) {
    const double rest = one.value - mean_value - slope * (one.at - mean_at);
    left += rest * rest;
  }
  return Trend{.slope = slope, .error = std::sqrt(left / (count - 2) / square)};
}

}  // namespace railbed::perf
