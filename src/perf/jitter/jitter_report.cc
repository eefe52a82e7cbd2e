// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/jitter_report.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/median.h"
#include "base/utc.h"
#include "perf/jitter/trend.h"

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

// The probes of all rounds of one kind, from which its figures are computed.
struct JitterSamples {
  Histogram whole;
  Histogram sending;
  Histogram between;
  Histogram noticing;
  std::vector<Histogram> repeats;  // whole, round by round
  std::vector<TrendPoint> medians;
  std::vector<double> load_gbps;
  double cpu_ns = 0;
  double duration_ns = 0;
  int64_t rounds_with_short_load = 0;
};

JitterSamples samples_of(const std::vector<JitterRound>& rounds, PathLoad load, std::vector<Window>& windows) {
  JitterSamples out;
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
    std::ranges::move(windows_of(round, out.medians), std::back_inserter(windows));
    out.load_gbps.push_back(round.load_gbps);
    out.cpu_ns += static_cast<double>(round.probes.cpu_ns);
    out.duration_ns += static_cast<double>(round.probes.duration_ns);
    if (round.load_ended_early) ++out.rounds_with_short_load;
  }
  return out;
}

std::vector<PercentileFigures> percentiles_of(const Histogram& durations) {
  std::vector<PercentileFigures> out;
  for (const ReportedPercentile& one : kReportedPercentiles)
    if (const auto interval = percentile_interval(durations, one.percent))
      out.push_back({.percent = one.percent,
                     .us = us(interval->value_ns),
                     .low_us = us(interval->low_ns),
                     .high_us = us(interval->high_ns)});
  return out;
}

JitterCondition condition_of(JitterSamples samples, ProbeClock clock) {
  JitterCondition out{.repeats = static_cast<int64_t>(samples.repeats.size()),
                      .whole = figures_of(samples.whole),
                      .sending = figures_of(samples.sending),
                      .between = figures_of(samples.between),
                      .percentiles = percentiles_of(samples.whole),
                      .rounds_with_short_load = samples.rounds_with_short_load};
  if (clock == ProbeClock::kDevice) out.noticing = figures_of(samples.noticing);
  if (const auto trend = trend_of(samples.medians))
    out.drift = Drift{.us_per_s = trend->slope, .error = trend->error, .clear = trend->is_clear()};
  if (samples.duration_ns > 0) out.cpu_percent = 100 * samples.cpu_ns / samples.duration_ns;
  if (!samples.load_gbps.empty()) out.load_gbps = median_high(std::move(samples.load_gbps));
  return out;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
};

// Nothing where a repeat has too few samples for it, or there are too few repeats.
std::optional<Range> range_of(const JitterSamples& samples, double percent) {
  if (std::cmp_less(samples.repeats.size(), kFewestRepeats)) return std::nullopt;
  Range range;
  for (const Histogram& repeat : samples.repeats) {
    const auto value = repeat.settled_percentile_ns(percent);
    if (!value) return std::nullopt;
    range.low = std::min(range.low, us(*value));
    range.high = std::max(range.high, us(*value));
  }
  return range;
}

std::vector<Comparison> compare(const JitterSamples& idle, const JitterSamples& loaded) {
  std::vector<Comparison> out;
  for (const ReportedPercentile& one : kReportedPercentiles) {
    const auto without = range_of(idle, one.percent);
    const auto with = range_of(loaded, one.percent);
    if (!without || !with) continue;
    Comparison comparison{.name = std::string(one.name),
                          .idle_low_us = without->low,
                          .idle_high_us = without->high,
                          .loaded_low_us = with->low,
                          .loaded_high_us = with->high};
    if (with->low > without->high) comparison.effect = LoadEffect::kHigher;
    if (with->high < without->low) comparison.effect = LoadEffect::kLower;
    out.push_back(std::move(comparison));
  }
  return out;
}

}  // namespace

std::string_view name_of(PathLoad load) {
  return kPathLoadNames[static_cast<size_t>(load)];
}

std::string_view name_of(LoadEffect effect) {
  return kLoadEffectNames[static_cast<size_t>(effect)];
}

std::vector<std::pair<std::string_view, const Figures*>> JitterCondition::parts() const {
  std::vector<std::pair<std::string_view, const Figures*>> out = {
      {"whole", &whole}, {"sending", &sending}, {"between", &between}};
  if (noticing) out.emplace_back("noticing", &*noticing);
  return out;
}

std::string JitterReport::name() const {
  return label.empty() ? fmt::format("{} {} → {} {}", client.hostname, client.device, server.hostname, server.device)
                       : label;
}

void summarise(const std::vector<JitterRound>& rounds, JitterReport& report) {
  std::vector<Window> windows;
  JitterSamples idle = samples_of(rounds, PathLoad::kIdle, windows);
  JitterSamples loaded = samples_of(rounds, PathLoad::kLoaded, windows);
  std::ranges::stable_sort(windows, std::ranges::greater(), &Window::max_us);
  windows.resize(std::min(windows.size(), kWorstWindows));
  report.worst = std::move(windows);
  report.comparisons = compare(idle, loaded);
  report.idle = condition_of(std::move(idle), report.clock);
  report.loaded.reset();
  if (!loaded.repeats.empty()) report.loaded = condition_of(std::move(loaded), report.clock);
}

}  // namespace railbed::perf
