// SPDX-License-Identifier: Apache-2.0
// A path's jitter, idle and under load, with its confidence: what is in the file, on the terminal and in the report.
//
// Why: a number without its spread is not evidence. Percentiles have intervals (order_interval.h), compared values were
// measured alternately at least three times, and the worst moments have their time of day, so that they can be compared
// with other logs. summarise() computes these figures from the probes and keeps nothing else; what shows them computes
// nothing again, so that terminal, file and page agree. Schema: docs/schemas/Jitter.json, explained in
// docs/jitter.md.
// Threading: plain values.
// Failure: of reading, Code::kInvalid with the field's path.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "doc/value.h"
#include "perf/jitter/order_interval.h"
#include "perf/jitter/probes.h"
#include "perf/latency_figures.h"
#include "perf/measurement.h"

namespace railbed::perf {

enum class PathLoad : uint8_t { kIdle, kLoaded };
inline constexpr std::string_view kPathLoadNames[] = {"idle", "loaded"};
std::string_view name_of(PathLoad load);

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
  double length_ms = static_cast<double>(kWindow_ns) / 1e6;
  double p50_us = 0;
  double max_us = 0;
  uint64_t samples = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// A percentile with its interval of confidence.
struct PercentileFigures {
  double percent = 0;
  double us = 0;
  double low_us = 0;
  double high_us = 0;
};

// The slope of the middle of windows, without sending.
struct Drift {
  double us_per_s = 0;
  double error = 0;    // standard error of it
  bool clear = false;  // more than chance (trend.h)
};

// All rounds of one kind.
struct JitterCondition {
  int64_t repeats = 0;  // that were measured
  Figures whole;
  Figures sending;
  Figures between;
  std::optional<Figures> noticing;             // by the device's clock
  std::vector<PercentileFigures> percentiles;  // of the whole
  std::optional<Drift> drift;
  double cpu_percent = 0;  // of one processor, that the probing thread took
  double load_gbps = 0;    // the middle one of the rounds'
  int64_t rounds_with_short_load = 0;

  // The whole first, then what it consists of, as far as the clock separates it.
  std::vector<std::pair<std::string_view, const Figures*>> parts() const;
};

// A percentile of both kinds, repeat by repeat.
enum class LoadEffect : uint8_t { kHigher, kLower, kUnclear };
inline constexpr std::string_view kLoadEffectNames[] = {"higher", "lower", "unclear"};
std::string_view name_of(LoadEffect effect);
struct Comparison {
  std::string name;        // "p99"
  double idle_low_us = 0;  // of the repeats
  double idle_high_us = 0;
  double loaded_low_us = 0;
  double loaded_high_us = 0;
  LoadEffect effect = LoadEffect::kUnclear;  // clear only where no repeat of one kind lies among the other's
};

struct JitterReport {
  std::string version;
  std::string started_at;
  std::string command;
  std::string label;
  std::string peer;
  Endpoint client;
  Endpoint server;
  bool soft = false;
  ProbeClock clock = ProbeClock::kSoftware;
  int64_t polls_us = 0;  // for each answer, before it is slept for
  int64_t size_bytes = 0;
  int64_t rate_per_s = 0;
  double duration_s = 0;  // of a round
  int64_t repeats = 0;    // that were asked for
  int64_t load_size_bytes = 0;
  double confidence = kConfidence;  // of the intervals
  JitterCondition idle;
  std::optional<JitterCondition> loaded;
  std::vector<Window> worst;  // of all, the worst first
  std::vector<Comparison> comparisons;
  std::string ended_by;

  std::string name() const;  // the label, or the two ends
};

// Fills in what follows from the rounds, whose probes were stamped by report.clock.
void summarise(const std::vector<JitterRound>& rounds, JitterReport& report);

inline constexpr ResultName kJitterName{"Jitter", "railbed.jitter/v1"};
std::string to_json(const JitterReport& report);
Result<JitterReport> jitter_from(const doc::Value& result);
std::string to_table(const JitterReport& report);

}  // namespace railbed::perf
