// SPDX-License-Identifier: Apache-2.0
// The statistics of a histogram of durations, for people and for programs, the same in every output.
//
// Why: a percentile is reported only if enough samples exceed it (Histogram::kNeededBeyond), in every output.
// Threading: none.
// Failure: none.
#pragma once

#include <string>

#include "perf/histogram.h"
#include "perf/json_writer.h"

namespace railbed::perf {

// The percentiles that are told, with their names.
struct ToldPercentile {
  std::string_view name;  // of a column: "p99.9"
  std::string_view key;   // in JSON: "p99_9_us"
  double percent;
};
inline constexpr ToldPercentile kToldPercentiles[] = {
    {"p50", "p50_us", 50},       {"p90", "p90_us", 90},          {"p99", "p99_us", 99},
    {"p99.9", "p99_9_us", 99.9}, {"p99.99", "p99_99_us", 99.99},
};

inline double us(uint64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

std::string figures_heading(std::string_view what);
std::string figures_row(std::string_view name, const Histogram& durations);
// An object; microseconds.
void write_figures(JsonWriter& writer, std::string_view field, const Histogram& durations);

}  // namespace railbed::perf
