// SPDX-License-Identifier: Apache-2.0
// A path's jitter, idle and under load, with its confidence.
//
// Why: a number without its spread is not evidence. Percentiles have intervals (order_interval.h), compared values were
// measured alternately at least three times, and the worst moments have their time of day, so that they can be compared
// with other logs. Computed from probes by pure functions. Schema: docs/schemas/Jitter.json, explained in
// docs/jitter.md.
// Threading: plain values.
// Failure: none.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "perf/jitter/order_interval.h"
#include "perf/jitter/probes.h"
#include "perf/jitter/trend.h"
#include "perf/measurement.h"

namespace railbed::perf {

enum class PathLoad : uint8_t { kIdle, kLoaded };
std::string_view name_of(PathLoad load);  // "idle", "loaded"

inline constexpr int64_t kFewestRepeats = 3;
inline constexpr uint64_t kWindow_ns = 100'000'000;
inline constexpr size_t kWorstWindows = 5;

// One of the rounds that are measured in turns.
struct JitterRound {
  PathLoad load = PathLoad::kIdle;
  std::chrono::system_clock::time_point started_at;
  double since_start_s = 0;  // of the whole measurement
  ProbeRound probes;
  double load_gbps = 0;
  bool load_ended_early = false;  // before the last probe
};

struct Window {
  PathLoad load = PathLoad::kIdle;
  std::string at;  // UTC, of its first millisecond
  double p50_us = 0;
  double max_us = 0;
  uint64_t samples = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// All rounds of one kind.
struct JitterCondition {
  Histogram whole;
  Histogram sending;
  Histogram between;
  Histogram noticing;              // by the device's clock
  std::vector<Histogram> repeats;  // whole, round by round
  std::optional<Trend> drift;      // of the middle of windows, without sending: us per second
  double cpu_percent = 0;          // of one processor, that the probing thread took
  double load_gbps = 0;            // the middle one of the rounds'
  int64_t rounds_with_short_load = 0;
};

// A percentile of both kinds, repeat by repeat.
enum class Verdict : uint8_t { kHigher, kLower, kUnclear };
std::string_view name_of(Verdict verdict);  // "higher", "lower", "unclear"
struct Comparison {
  std::string_view name;  // "p99"
  std::string_view key;
  double idle_low_us = 0;  // of the repeats
  double idle_high_us = 0;
  double loaded_low_us = 0;
  double loaded_high_us = 0;
  Verdict verdict = Verdict::kUnclear;  // of the load; clear only where no repeat of one kind lies among the other's
};

struct JitterReport {
  std::string version;
  std::string started_at;
  std::string command;
  std::string label;
  std::string peer;
  Endpoint client;
  Endpoint server;
  ProbeClock clock = ProbeClock::kSoftware;
  int64_t polls_us = 0;  // for each answer, before it is slept for
  int64_t size_bytes = 0;
  int64_t rate_per_s = 0;
  double duration_s = 0;  // of a round
  int64_t repeats = 0;
  int64_t load_size_bytes = 0;
  JitterCondition idle;
  JitterCondition loaded;
  std::vector<Window> worst;  // of all, the worst first
  std::vector<Comparison> comparisons;
  std::string ended_by;

  bool soft() const { return client.soft || server.soft; }
  bool has_load() const { return !loaded.repeats.empty(); }
};

// Fills in what follows from the rounds.
void summarise(const std::vector<JitterRound>& rounds, JitterReport& report);

std::string to_json(const JitterReport& report);
std::string to_table(const JitterReport& report);

}  // namespace railbed::perf
