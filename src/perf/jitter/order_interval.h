// SPDX-License-Identifier: Apache-2.0
// Confidence interval of a percentile of samples.
//
// Why: p99.9 of ten thousand samples is about its tenth largest one, and the next ten thousand will have another. The
// number of samples below the true percentile is binomial, regardless of the distribution of the durations, so two
// ranks enclose it with a known confidence; nothing is assumed about the tail. Samples in close succession are
// correlated (a queue lasts longer than a probe), so the true interval is rather wider. Pure.
// Threading: none.
// Failure: nothing if fewer than Histogram::kNeededBeyond samples exceed it, or a rank would be outside of the samples.
// Source: David and Nagaraja, Order Statistics, section 7.1.
#pragma once

#include <optional>

#include "perf/histogram.h"

namespace railbed::perf {

inline constexpr double kConfidence = 0.95;

// From 1, in the order of size: the `low`-th and the `high`-th sample enclose the percentile.
struct RankInterval {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const RankInterval&, const RankInterval&) = default;
};
std::optional<RankInterval> rank_interval(uint64_t samples, double percent);

struct PercentileInterval {
  uint64_t value_ns = 0;
  uint64_t low_ns = 0;
  uint64_t high_ns = 0;
  friend bool operator==(const PercentileInterval&, const PercentileInterval&) = default;
};
std::optional<PercentileInterval> percentile_interval(const Histogram& durations, double percent);

}  // namespace railbed::perf
