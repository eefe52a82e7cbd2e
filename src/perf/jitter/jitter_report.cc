// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/jitter_report.h"

#include <algorithm>
#include <limits>

#include "base/utc.h"
#include "perf/latency_figures.h"

namespace railbed::perf {
namespace {

// The windows of one round, in the order of time.
std::vector<Window> windows_of(const JitterRound& round, std::vector<TrendPoint>& medians) {
  std::vector<Window> windows;
  const std::vector<Probe>& probes = round.probes.probes;
  for (size_t first = 0; first < probes.size();) {
    const uint64_t number = probes[first].due_ns / kWindow_ns;
    std::vector<uint64_t> whole;
    std::vector<uint64_t> without_sending;
    for (; first < probes.size() && probes[first].due_ns / kWindow_ns == number; ++first) {
      whole.push_back(probes[first].whole_ns);
      without_sending.push_back(probes[first].whole_ns - probes[first].sending_ns);
    }
    const auto middle = [](std::vector<uint64_t>& values) {
      const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), at, values.end());
      return us(*at);
    };
    const auto begin = std::chrono::nanoseconds(number * kWindow_ns);
    windows.push_back(
        {.load = round.load,
         .at = utc_text(round.started_at + std::chrono::duration_cast<std::chrono::system_clock::duration>(begin)),
         .p50_us = middle(whole),
         .max_us = us(*std::ranges::max_element(whole)),
         .samples = whole.size()});
    medians.push_back({round.since_start_s + std::chrono::duration<double>(begin).count(), middle(without_sending)});
  }
  return windows;
}

JitterCondition condition_of(const std::vector<JitterRound>& rounds, PathLoad load, std::vector<Window>& windows) {
  JitterCondition out;
  std::vector<TrendPoint> medians;
  std::vector<double> load_gbps;
  double cpu_ns = 0;
  double duration_ns = 0;
  for (const JitterRound& round : rounds) {
    if (round.load != load) continue;
    Histogram& repeat = out.repeats.emplace_back();
    for (const Probe& probe : round.probes.probes) {
      repeat.record(probe.whole_ns);
      out.sending.record(probe.sending_ns);
      out.between.record(probe.between_ns());
      out.noticing.record(probe.noticing_ns);
    }
    out.whole.merge(repeat);
    std::ranges::move(windows_of(round, medians), std::back_inserter(windows));
    load_gbps.push_back(round.load_gbps);
    cpu_ns += static_cast<double>(round.probes.cpu_ns);
    duration_ns += static_cast<double>(round.probes.duration_ns);
    if (round.load_ended_early) ++out.rounds_with_short_load;
  }
  out.drift = trend_of(medians);
  if (duration_ns > 0) out.cpu_percent = 100 * cpu_ns / duration_ns;
  if (!load_gbps.empty()) {
    const auto middle = load_gbps.begin() + static_cast<std::ptrdiff_t>(load_gbps.size() / 2);
    std::nth_element(load_gbps.begin(), middle, load_gbps.end());
    out.load_gbps = *middle;
  }
  return out;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
};

// Nothing where a repeat has too few samples for it, or there are too few repeats.
std::optional<Range> range_of(const JitterCondition& condition, double percent) {
  if (std::cmp_less(condition.repeats.size(), kFewestRepeats)) return std::nullopt;
  Range range;
  for (const Histogram& repeat : condition.repeats) {
    const auto value = repeat.settled_percentile_ns(percent);
    if (!value) return std::nullopt;
    range.low = std::min(range.low, us(*value));
    range.high = std::max(range.high, us(*value));
  }
  return range;
}

std::vector<Comparison> compare(const JitterCondition& idle, const JitterCondition& loaded) {
  std::vector<Comparison> out;
  for (const ToldPercentile& one : kToldPercentiles) {
    const auto without = range_of(idle, one.percent);
    const auto with = range_of(loaded, one.percent);
    if (!without || !with) continue;
    Comparison comparison{.name = one.name,
                          .key = one.key,
                          .idle_low_us = without->low,
                          .idle_high_us = without->high,
                          .loaded_low_us = with->low,
                          .loaded_high_us = with->high};
    if (with->low > without->high) comparison.verdict = Verdict::kHigher;
    if (with->high < without->low) comparison.verdict = Verdict::kLower;
    out.push_back(comparison);
  }
  return out;
}

}  // namespace

std::string_view name_of(PathLoad load) {
  return load == PathLoad::kIdle ? "idle" : "loaded";
}

std::string_view name_of(Verdict verdict) {
  if (verdict == Verdict::kHigher) return "higher";
  return verdict == Verdict::kLower ? "lower" : "unclear";
}

void summarise(const std::vector<JitterRound>& rounds, JitterReport& report) {
  std::vector<Window> windows;
  report.idle = condition_of(rounds, PathLoad::kIdle, windows);
  report.loaded = condition_of(rounds, PathLoad::kLoaded, windows);
  std::ranges::stable_sort(windows, std::ranges::greater(), &Window::max_us);
  windows.resize(std::min(windows.size(), kWorstWindows));
  report.worst = std::move(windows);
  report.comparisons = compare(report.idle, report.loaded);
}

}  // namespace railbed::perf
