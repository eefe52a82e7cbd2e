// SPDX-License-Identifier: Apache-2.0
// The file of `railbed perf jitter --save`, as the report shows it.
//
// Why an own value: the result has statistics, not the probes they were computed from (perf/jitter/jitter_report.h),
// and the page does not recompute anything, so that it matches the terminal. Schema: docs/schemas/Jitter.json.
// Threading: plain values; reading is pure.
// Failure: Code::kInvalid with the field's path.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "doc/value.h"
#include "perf/latency_figures.h"

namespace railbed::report {

inline constexpr size_t kPercentiles = std::size(perf::kToldPercentiles);

// How long a part of the probes took; a percentile is absent where too few probes lie beyond it.
struct JitterPart {
  std::string name;  // "whole", "sending", "between", "noticing"
  uint64_t samples = 0;
  std::array<std::optional<double>, kPercentiles> percentiles_us;  // as perf::kToldPercentiles
  double max_us = 0;
};

// A percentile of the whole with its interval of confidence.
struct JitterInterval {
  double percent = 0, low_us = 0, high_us = 0;
};

struct JitterDrift {
  double us_per_s = 0, error = 0;
  bool clear = false;
};

// All rounds of one kind.
struct JitterRounds {
  int64_t repeats = 0;
  std::vector<JitterPart> parts;  // the whole first
  std::vector<JitterInterval> intervals;
  std::optional<JitterDrift> drift;
  double cpu_percent = 0, load_gbps = 0;
  int64_t rounds_with_short_load = 0;
};

struct JitterComparison {
  std::string percentile;  // "p99"
  double idle_low_us = 0, idle_high_us = 0, loaded_low_us = 0, loaded_high_us = 0;
  std::string load_is;  // "higher", "lower", "unclear"
};

struct JitterWindow {
  std::string at, load;  // UTC; "idle", "loaded"
  double length_ms = 0, p50_us = 0, max_us = 0;
  uint64_t samples = 0;
};

struct JitterPage {
  struct End {
    std::string hostname, address, netdev, device, link;
    int port = 0;
  };
  std::string version, started_at, command, label, clock, ended_by;
  bool soft = false;
  int64_t size_bytes = 0, rate_per_s = 0, load_size_bytes = 0;
  double duration_s = 0, confidence = 0;
  End client, server;
  JitterRounds idle;
  std::optional<JitterRounds> loaded;
  std::vector<JitterComparison> comparisons;
  std::vector<JitterWindow> worst;  // the worst first

  // The label, or the two ends.
  std::string name() const;
};

// "higher: p50, p99; unclear: p99.9", or why nothing is compared.
std::string load_does(const JitterPage& page);

// Whether a result is of `perf jitter`, of whatever version.
bool is_jitter(const doc::Value& result);
Result<JitterPage> jitter_from(const doc::Value& result);

}  // namespace railbed::report
