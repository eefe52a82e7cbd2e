// SPDX-License-Identifier: Apache-2.0
// The results of the measurements, rail by rail, and the verdict in words.
//
// Why: a reader of the report needs one sentence first. It is decided here, as a function over values, so that each
// sentence is a test.
// Threading: pure.
// Failure: none.
#pragma once

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

// The band of measured over possible in which a rail is good. Below, something on the path takes bandwidth; above, the
// link is not what it says.
inline constexpr double kBandFrom = 0.90;
inline constexpr double kBandTo = 1.03;
// Smaller messages are bound by their number, not by the link.
inline constexpr int64_t kLargeEnough_bytes = 32768;

struct Verdict {
  // kGood: every rail carries what its link can, within kBandFrom and kBandTo, and nothing speaks against any of them.
  enum class Tone { kGood, kCaution, kNone };
  Tone tone = Tone::kNone;
  std::string headline;
  std::vector<std::string> remarks;
};
Verdict verdict_of(const std::vector<RailFigures>& rails);

}  // namespace railbed::report
