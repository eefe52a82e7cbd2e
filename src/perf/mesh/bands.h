// SPDX-License-Identifier: Apache-2.0
// Compares a mesh with expectations: user-defined ranges, and an earlier mesh.
//
// Why: the analysis finds what differs from the others; it cannot detect a fabric that is slow everywhere. Both use the
// medians of NICs, so that one unlucky pair is no finding.
// Threading: pure.
// Failure: Code::kInvalid with the part of the text that is wrong and the expected format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/mesh/analysis.h"

namespace railbed::perf::mesh {

struct Bands {
  std::optional<double> min_bandwidth_gbps;
  std::optional<double> max_p50_us;
  std::optional<double> max_p99_us;
  friend bool operator==(const Bands&, const Bands&) = default;
};
// "bw>=360,p50<=3.5,p99<=20": Gb/s and microseconds; at least one part, each at most once.
Result<Bands> parse_bands(std::string_view text);

struct OutOfBand {
  Nic nic;
  Metric metric = Metric::kSend;
  double measured = 0;  // Gb/s, us
  double bound = 0;
  friend bool operator==(const OutOfBand&, const OutOfBand&) = default;
};
// Host after host, rail after rail.
std::vector<OutOfBand> out_of_bands(const Analysis& analysis, const Bands& bands);

// A NIC that is worse than it was, by more than a share that matters and than k times what NICs of its rail changed
// against each other.
struct Change {
  Nic nic;  // of the fabric now
  Metric metric = Metric::kSend;
  double before = 0;  // Gb/s, us
  double now = 0;
  friend bool operator==(const Change&, const Change&) = default;
};
struct Comparison {
  std::vector<Change> worse;           // host after host, rail after rail
  std::vector<std::string> new_hosts;  // without a baseline
  std::vector<std::string> gone_hosts;
  friend bool operator==(const Comparison&, const Comparison&) = default;
};

struct MeshView {
  const Fabric& fabric;
  const Analysis& analysis;
};
// NICs are the same when host and rail have the same names.
Comparison compare(const MeshView& now, const MeshView& before, const Limits& limits);

}  // namespace railbed::perf::mesh
