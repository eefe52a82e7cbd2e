// SPDX-License-Identifier: Apache-2.0
// What the measurements say, rail by rail, and the verdict in words.
//
// Why: who opens the report wants one sentence first. Decided here, as a function over values, so that each
// sentence is a test. Threading: pure. Failure: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf/measurement.h"

namespace railbed::report {

// One transport of a rail: the largest average bandwidth of its sweep, and the latency at the smallest size.
struct PathFigures {
  const perf::Measurement* bandwidth = nullptr;  // the sweep with most sizes
  const perf::Measurement* latency = nullptr;
  const perf::BandwidthPoint* best = nullptr;
  const perf::LatencyPoint* small = nullptr;
  double p50_us() const { return static_cast<double>(small->histogram.percentile_ns(50)) / 1e3; }
  double p999_us() const { return static_cast<double>(small->histogram.percentile_ns(99.9)) / 1e3; }
  double stddev_us() const { return small->histogram.stddev_ns() / 1e3; }
};

struct RailFigures {
  std::string name;  // the label, or "guest-2 eth0 → guest-1 eth0"
  std::string path;  // "guest-2 → guest-1"
  PathFigures rdma;
  PathFigures tcp;
  bool soft = false;
};

// In the order of first appearance. The result points into `measurements`.
std::vector<RailFigures> rails_of(const std::vector<perf::Measurement>& measurements);
std::string rail_name(const perf::Measurement& measurement);

struct Verdict {
  enum class Tone { kGood, kCaution, kNone };
  Tone tone = Tone::kNone;
  std::string headline;
  std::vector<std::string> remarks;
};
Verdict verdict_of(const std::vector<RailFigures>& rails);

}  // namespace railbed::report
