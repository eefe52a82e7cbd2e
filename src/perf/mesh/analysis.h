// SPDX-License-Identifier: Apache-2.0
// Which NICs are outliers in a mesh, by the medians of their rows and columns.
//
// Why: one slow pair does not show which end is slow, but a slow NIC is slow with every partner. The median of what a
// NIC sent (its row) and of what it received (its column) ignores single bad partners; the reference is the median over
// all NICs of the rail, or of the other rails if those are better, and a NIC is suspected if it is worse by more than k
// times the deviation among them (MAD) and by more than a relevant share. If leaves are known, pairs within a leaf and
// between leaves have separate references, because their latency differs in a healthy fabric.
//
// Outages are counted, not averaged: a pair implicates both ends, so the NIC with the largest share of bad pairs is
// selected, its pairs no longer count against its partners, and so on.
//
// Threading: pure; rails are analysed in `threads` threads.
// Failure: none; what was not measured has no value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "perf/mesh/results.h"

namespace railbed::perf::mesh {

// What is looked at: bandwidth of both directions in Mb/s; p50 and p99 of the latency in ns.
enum class Metric : uint8_t { kSend, kReceive, kLatency, kTail };
inline constexpr std::array kMetrics = {Metric::kSend, Metric::kReceive, Metric::kLatency, Metric::kTail};
constexpr bool is_bandwidth(Metric metric) {
  return metric == Metric::kSend || metric == Metric::kReceive;
}

// Whether all rails are of one kind: then a rail that is slow as a whole is found by the others.
enum class RailKinds : uint8_t { kAlike, kDifferent };

struct Limits {
  double k = 6;                        // times the standard deviation that the MAD stands for
  double min_bandwidth_loss = 0.04;    // of what is usual
  double min_latency_increase = 0.25;  // p50
  double min_tail_increase = 1.0;      // p99
  uint32_t min_bad_pairs = 2;          // outages with that many partners
  double group_share = 0.8;            // of a leaf's, host's or rail's NICs
  RailKinds rail_kinds = RailKinds::kAlike;
};

// One NIC: the median of its row or column in codes of LogValue, of Mb/s or ns.
struct NicFigures {
  std::array<std::optional<int>, kMetrics.size()> level;
  uint32_t tried = 0;  // pairs measured or failed
  uint32_t bad = 0;    // of those, with outages or failed
  uint32_t failed = 0;
  uint32_t unexplained = 0;  // bad ones that no other suspect explains
  std::array<bool, kMetrics.size()> slow{};
  bool unsteady = false;  // outages

  std::optional<int> of(Metric metric) const { return level[static_cast<size_t>(metric)]; }
  bool is_slow(Metric metric) const { return slow[static_cast<size_t>(metric)]; }
  bool suspect() const;
};

// What is usual on a rail, and from where on a NIC is suspected; in codes.
struct Usual {
  int center = 0;
  int threshold = 0;
  friend bool operator==(const Usual&, const Usual&) = default;
};

struct Analysis {
  uint32_t rails = 0;
  std::vector<NicFigures> nics;                                          // host after host, rail after rail
  std::vector<std::array<std::optional<Usual>, kMetrics.size()>> usual;  // per rail

  const NicFigures& of(Nic nic) const { return nics[size_t{nic.host} * rails + nic.rail]; }
  const std::optional<Usual>& usual_of(uint32_t rail, Metric metric) const {
    return usual[rail][static_cast<size_t>(metric)];
  }
};

// The middle of `values`, codes or differences of them, and how far from it one has to be to be reported. At least one
// value.
Usual worth_reporting(Metric metric, std::vector<int> values, const Limits& limits);

Analysis analyse(const MeshResults& results, const Limits& limits, unsigned threads = 1);

// The figure of a code: Gb/s of Mb/s, us of ns.
inline double figure_of(int code) {
  return LogValue::value_of(code) / 1000;
}

// By how many steps a code is worse than `center`; negative where it is better.
constexpr int worse_by(Metric metric, int code, int center) {
  return is_bandwidth(metric) ? center - code : code - center;
}

}  // namespace railbed::perf::mesh
