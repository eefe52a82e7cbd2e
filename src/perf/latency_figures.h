// SPDX-License-Identifier: Apache-2.0
// The statistics of a histogram of durations, for people and for programs, the same in every output.
//
// Why: a percentile is reported only if enough samples exceed it (Histogram::kNeededBeyond), in every output. A file
// has the figures and not the samples, so they are a value of their own, which is written, read and shown.
// Threading: none.
// Failure: of reading, what is wrong is reported to `fields`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "perf/histogram.h"
#include "perf/json_writer.h"

namespace railbed::doc {
class Fields;
}

namespace railbed::perf {

// The percentiles that are reported, with their names.
struct ReportedPercentile {
  std::string_view name;  // of a column: "p99.9"
  std::string_view key;   // in JSON: "p99_9_us"
  double percent;
};
inline constexpr ReportedPercentile kReportedPercentiles[] = {
    {"p50", "p50_us", 50},       {"p90", "p90_us", 90},          {"p99", "p99_us", 99},
    {"p99.9", "p99_9_us", 99.9}, {"p99.99", "p99_99_us", 99.99},
};

inline double us(uint64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

struct Figures {
  uint64_t samples = 0;
  double min_us = 0;
  std::array<std::optional<double>, std::size(kReportedPercentiles)>
      percentiles_us;  // absent: too few samples exceed it
  double max_us = 0;
  double mean_us = 0;
  double stddev_us = 0;
  friend bool operator==(const Figures&, const Figures&) = default;
};
Figures figures_of(const Histogram& durations);

std::string figures_heading(std::string_view what);
std::string figures_row(std::string_view name, const Figures& figures);
// An object.
void write_figures(JsonWriter& writer, std::string_view field, const Figures& figures);
void read_figures(doc::Fields& fields, Figures& figures);

}  // namespace railbed::perf
