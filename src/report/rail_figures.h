// SPDX-License-Identifier: Apache-2.0
// The results of the measurements, rail by rail.
//
// Why: a rail has measurements over RDMA and over TCP, of bandwidth and of latency, some of them several times.
// Findings (rail_findings.h), tables, cards and charts compare rails, so what belongs to one is put together once.
// Threading: pure.
// Failure: none.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "perf/measurement.h"

namespace railbed::report {

// One transport of a rail: the largest average bandwidth of its sweep, and the latency at the smallest size.
struct PathFigures {
  const perf::Measurement* bandwidth = nullptr;  // the sweep with most sizes; of several with as many the slowest
  const perf::Measurement* latency = nullptr;
  const perf::BandwidthPoint* best = nullptr;
  const perf::LatencyPoint* small = nullptr;
  std::vector<double> repeats_gbps;  // the best average of each sweep
  // Half of the middle round trip; the tail and the deviation are those of whole ones.
  // Nothing where too few samples speak for it.
  // Neither is a half where the peer's device answers.
  std::optional<double> half_p50_us() const {
    return latency == nullptr || latency->has_halves() ? settled_us(50, 0.5) : std::nullopt;
  }
  std::optional<double> p999_us() const { return settled_us(99.9, 1); }
  double stddev_us() const { return small->histogram.stddev_ns() / 1e3; }

 private:
  std::optional<double> settled_us(double percent, double share) const {
    const auto ns = small->histogram.settled_percentile_ns(percent);
    if (!ns) return std::nullopt;
    return share * static_cast<double>(*ns) / 1e3;
  }
};

// A rail between two ends, measured alone or beside others.
struct RailFigures {
  std::string name;  // the label, or "guest-2 eth0 → guest-1 eth0"; with the ends where several have one label
  std::string path;  // "guest-2 → guest-1"
  std::string label;
  std::string ends;                              // "guest-2 eth0 → guest-1 eth0"
  perf::RdmaVerb verb = perf::RdmaVerb::kWrite;  // each has a row of its own; TCP stands beside writes
  bool together = false;                         // other rails were measured at the same time
  PathFigures rdma;
  PathFigures tcp;
  bool soft = false;
  double yardstick_gbps = 0;  // what the link can carry (perf/yardstick.h); 0: unknown
};

// In the order of first appearance. A rail is its label and its two ends, so that no pair stands for another one; what
// was measured while other rails were measured is a row of its own. The result points into `measurements`.
std::vector<RailFigures> rails_of(const std::vector<perf::Measurement>& measurements);
std::string rail_name(const perf::Measurement& measurement);

// Measured over possible, where both are known. Messages of less than 32 KiB are bound by their number, not by the
// link.
std::optional<double> share_of_link(const RailFigures& rail);

// When it began; absent where the file does not say.
std::optional<std::chrono::system_clock::time_point> time_of(const perf::Measurement& measurement);

}  // namespace railbed::report
