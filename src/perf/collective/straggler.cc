// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/straggler.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/median.h"

namespace railbed::perf::collective {
namespace {

constexpr double kTimesUsual = 2;
constexpr double kShareOfAll = 0.1;

double median(std::vector<double> values) {
  return values.empty() ? 0 : median_low(std::move(values));
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

uint32_t count(const std::vector<RankTimes>& all) {
  return static_cast<uint32_t>(all.size());
}

// How long what a rank received in a step was on its way.
double transfer_us(Algorithm algorithm, const std::vector<RankTimes>& all, uint32_t rank, uint32_t step) {
  const double seen = all[rank].step_transfer_us[step];
  const Source source = source_of(algorithm, rank, count(all), step);
  return seen > 0 ? seen : all[source.rank].sent_us[source.step];
}

// In a tree, how much a rank adds and sends is its place's: only those with the same neighbours are alike.
uint32_t role_of(Algorithm algorithm, uint32_t rank, uint32_t ranks) {
  if (algorithm == Algorithm::kRing) return 0;
  return 2 * steps_of(algorithm, rank, ranks).sends + (rank == 0 ? 1 : 0);
}

struct Candidate {
  double took_us = 0;
  double usual_us = 0;
  size_t place = 0;
  double excess_us() const { return took_us - usual_us; }
};

// The largest, where it is so much larger than the median of the others.
std::optional<Candidate> outstanding(const std::vector<double>& values, double all_reduce_us) {
  if (values.size() < 2) return std::nullopt;
  const auto largest = std::ranges::max_element(values);
  std::vector<double> others = values;
  others.erase(others.begin() + (largest - values.begin()));
  const Candidate found{.took_us = *largest,
                        .usual_us = median(std::move(others)),
                        .place = static_cast<size_t>(largest - values.begin())};
  if (found.took_us <= kTimesUsual * found.usual_us || found.excess_us() < kShareOfAll * all_reduce_us)
    return std::nullopt;
  return found;
}

}  // namespace

std::vector<RankFigures> rank_figures(Algorithm algorithm, const std::vector<RankTimes>& all) {
  std::vector<RankFigures> out;
  for (uint32_t rank = 0; rank < all.size(); ++rank) {
    const RankTimes& times = all[rank];
    double transfer = 0;
    for (uint32_t step = 0; step < times.step_waited_us.size(); ++step)
      transfer += transfer_us(algorithm, all, rank, step);
    out.push_back({.rank = rank,
                   .mean_us = times.mean_us,
                   .p50_us = times.p50_us,
                   .p99_us = times.p99_us,
                   .max_us = times.max_us,
                   .waited_p50_us = times.waited_p50_us,
                   .waited_p99_us = times.waited_p99_us,
                   .transfer_us = transfer,
                   .reduce_us = sum(times.step_reduce_us),
                   .own_p50_us = times.own_p50_us,
                   .own_max_us = times.own_max_us});
  }
  return out;
}

std::vector<StepFigures> step_figures(Algorithm algorithm, const std::vector<RankTimes>& all) {
  struct Gathered {
    StepFigures figures;
    std::vector<double> waited, transfer, reduce;
  };
  std::map<uint32_t, Gathered> steps;
  for (uint32_t rank = 0; rank < all.size(); ++rank)
    for (uint32_t step = 0; step < all[rank].step_waited_us.size(); ++step) {
      const std::string_view phase = phase_of(algorithm, rank, count(all), step);
      // Ranks of a tree number their steps by their own children.
      const uint32_t number = algorithm == Algorithm::kRing ? step : phase == "up" ? 0 : 1;
      Gathered& it = steps[number];
      const double waited = all[rank].step_waited_us[step];
      const double transfer = transfer_us(algorithm, all, rank, step);
      it.figures.step = number;
      it.figures.phase = phase;
      it.waited.push_back(waited);
      it.transfer.push_back(transfer);
      if (phase == "up" || phase == "reduce-scatter") it.reduce.push_back(all[rank].step_reduce_us[step]);
      if (waited - transfer <= it.figures.late_us && it.waited.size() > 1) continue;
      it.figures.late_us = std::max(0.0, waited - transfer);
      it.figures.late_rank = rank;
      it.figures.late_from = source_of(algorithm, rank, count(all), step).rank;
    }
  std::vector<StepFigures> out;
  for (auto& [number, it] : steps) {
    it.figures.waited_us = median(std::move(it.waited));
    it.figures.transfer_us = median(std::move(it.transfer));
    it.figures.reduce_us = median(std::move(it.reduce));
    out.push_back(it.figures);
  }
  return out;
}

std::optional<Straggler> find_straggler(Algorithm algorithm, const std::vector<RankTimes>& all) {
  std::vector<double> totals;
  std::map<uint32_t, std::vector<uint32_t>> roles;        // ranks of each
  std::map<std::pair<uint32_t, uint32_t>, double> links;  // all that was on its way over each
  for (uint32_t rank = 0; rank < all.size(); ++rank) {
    totals.push_back(all[rank].p50_us);
    roles[role_of(algorithm, rank, count(all))].push_back(rank);
    for (uint32_t step = 0; step < all[rank].step_waited_us.size(); ++step)
      links[{source_of(algorithm, rank, count(all), step).rank, rank}] += transfer_us(algorithm, all, rank, step);
  }
  const double all_reduce_us = median(std::move(totals));
  std::optional<Straggler> found;
  for (const auto& [role, ranks] : roles) {
    std::vector<double> own;
    for (const uint32_t rank : ranks) own.push_back(all[rank].own_p50_us);
    const auto slow = outstanding(own, all_reduce_us);
    if (!slow || (found && slow->excess_us() <= found->took_us - found->usual_us)) continue;
    found = Straggler{.rank = ranks[slow->place],
                      .took_us = slow->took_us,
                      .usual_us = slow->usual_us,
                      .all_reduce_us = all_reduce_us};
  }
  if (found) return found;
  std::vector<double> transfers;
  for (const auto& [way, us] : links) transfers.push_back(us);
  const auto slow = outstanding(transfers, all_reduce_us);
  if (!slow) return std::nullopt;
  const auto [from, to] = std::next(links.begin(), static_cast<ptrdiff_t>(slow->place))->first;
  return Straggler{.rank = {},
                   .from = from,
                   .to = to,
                   .took_us = slow->took_us,
                   .usual_us = slow->usual_us,
                   .all_reduce_us = all_reduce_us};
}

}  // namespace railbed::perf::collective
