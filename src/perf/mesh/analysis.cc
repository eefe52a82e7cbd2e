// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/analysis.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "base/median.h"
#include "perf/mesh/rows.h"

namespace railbed::perf::mesh {
namespace {

constexpr double kDeviationOfMad = 1.4826;  // of a normal distribution, by its median absolute deviation

// A median of fewer pairs is hardly steadier than a pair: twice as much has to be missing. Two hosts with jitter of 1 %
// differ by 4 % once in two hundred times, by 8 % never.
constexpr uint32_t kFewPairs = 5;

// The better of both middles, as in rows: half of the NICs may be bad before the usual is.
int median(std::vector<int> values, bool upper) {
  return upper ? median_high(std::move(values)) : median_low(std::move(values));
}

int floor_steps(Metric metric, const Limits& limits) {
  switch (metric) {
    case Metric::kSend:
    case Metric::kReceive:
      return -LogValue::steps_of(1 - limits.min_bandwidth_loss);
    case Metric::kLatency:
      return LogValue::steps_of(1 + limits.min_latency_increase);
    case Metric::kTail:
      return LogValue::steps_of(1 + limits.min_tail_increase);
  }
  std::unreachable();
}

std::optional<Usual> usual_of_rail(const Analysis& analysis, uint32_t rail, Metric metric, const Limits& limits) {
  std::vector<int> levels;
  for (size_t i = rail; i < analysis.nics.size(); i += analysis.rails)
    if (const auto level = analysis.nics[i].of(metric)) levels.push_back(*level);
  if (levels.empty()) return std::nullopt;
  return worth_reporting(metric, std::move(levels), limits);
}

// What the other rails do is usual for one that does worse as a whole.
void level_rails(Analysis& analysis, Metric metric) {
  const auto at = static_cast<size_t>(metric);
  std::vector<std::optional<int>> centers;
  for (const auto& usual : analysis.usual)
    centers.push_back(usual[at] ? std::optional(usual[at]->center) : std::nullopt);
  for (uint32_t rail = 0; rail < analysis.rails; ++rail) {
    std::vector<int> others;
    for (uint32_t other = 0; other < analysis.rails; ++other)
      if (other != rail && centers[other]) others.push_back(*centers[other]);
    if (others.empty() || !centers[rail]) continue;
    Usual& usual = *analysis.usual[rail][at];
    const int common = median(std::move(others), is_bandwidth(metric));
    if (worse_by(metric, usual.center, common) > usual.threshold) usual.center = common;
  }
}

void find_slow(Analysis& analysis, const Limits& limits) {
  for (const Metric metric : kMetrics) {
    const auto at = static_cast<size_t>(metric);
    for (uint32_t rail = 0; rail < analysis.rails; ++rail)
      analysis.usual[rail][at] = usual_of_rail(analysis, rail, metric, limits);
    if (limits.rail_kinds == RailKinds::kAlike) level_rails(analysis, metric);
    for (size_t i = 0; i < analysis.nics.size(); ++i) {
      const auto& usual = analysis.usual[i % analysis.rails][at];
      const auto level = analysis.nics[i].level[at];
      if (!usual || !level) continue;
      const int threshold = usual->threshold * (analysis.nics[i].tried < kFewPairs ? 2 : 1);
      analysis.nics[i].slow[at] = worse_by(metric, *level, usual->center) > threshold;
    }
  }
}

// A pair's outages accuse both ends. Those with more than half of the largest share of bad pairs are taken, and what is
// left is counted again without their pairs. Each turn takes at least one NIC, and a few are enough, since shares
// halve.
void find_unsteady(Analysis& analysis, const MeshResults& results, const Limits& limits) {
  constexpr int kTurns = 8;
  const auto figures = [&](Nic nic) -> NicFigures& {
    return analysis.nics[size_t{nic.host} * analysis.rails + nic.rail];
  };
  for (NicFigures& nic : analysis.nics) nic.unexplained = nic.bad;
  for (int turn = 0; turn < kTurns; ++turn) {
    double largest = 0;
    for (const NicFigures& nic : analysis.nics)
      if (!nic.unsteady && nic.unexplained >= limits.min_bad_pairs)
        largest = std::max(largest, double{1} * nic.unexplained / nic.tried);
    if (largest == 0) return;
    for (NicFigures& nic : analysis.nics)
      if (!nic.unsteady && nic.unexplained >= limits.min_bad_pairs && 2.0 * nic.unexplained / nic.tried > largest)
        nic.unsteady = true;
    for (NicFigures& nic : analysis.nics) nic.unexplained = nic.unsteady ? nic.bad : 0;
    each_bad_pair(results, [&](const BadPair& pair) {
      if (figures(pair.first).unsteady || figures(pair.second).unsteady) return;
      ++figures(pair.first).unexplained;
      ++figures(pair.second).unexplained;
    });
  }
}

}  // namespace

bool NicFigures::suspect() const {
  return unsteady || std::ranges::any_of(slow, [](bool is) { return is; });
}

Usual worth_reporting(Metric metric, std::vector<int> values, const Limits& limits) {
  Usual usual;
  usual.center = median(values, is_bandwidth(metric));
  for (int& value : values) value = std::abs(value - usual.center);
  const double deviation = median(std::move(values), false) * kDeviationOfMad;
  usual.threshold = std::max(static_cast<int>(limits.k * deviation), floor_steps(metric, limits));
  return usual;
}

Analysis analyse(const MeshResults& results, const Limits& limits, unsigned threads) {
  Analysis analysis;
  analysis.rails = results.fabric().rail_count();
  analysis.nics.resize(size_t{results.fabric().hosts()} * analysis.rails);
  analysis.usual.resize(analysis.rails);
  // Each piece of work writes levels of its own.
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t piece = next++; piece < analysis.rails * kMetrics.size(); piece = next++) {
      const auto rail = static_cast<uint32_t>(piece / kMetrics.size());
      const size_t metric = piece % kMetrics.size();
      const auto medians = row_medians(results, rail, kMetrics[metric]);
      for (size_t host = 0; host < medians.size(); ++host)
        analysis.nics[host * analysis.rails + rail].level[metric] = medians[host];
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads: those there are do it
    }
    work();
  }
  count_pairs(results, analysis.nics);
  find_slow(analysis, limits);
  find_unsteady(analysis, results, limits);
  return analysis;
}

}  // namespace railbed::perf::mesh
