// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/straggler.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace railbed::perf::collective {
namespace {

constexpr double kTimesUsual = 2;
constexpr double kShareOfAll = 0.1;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
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

// In a tree, how much a rank adds up is its place's.
double own_us(Algorithm algorithm, const RankTimes& times) {
  if (algorithm == Algorithm::kRing) return times.own_p50_us;
  return std::max(0.0, times.own_p50_us - sum(times.step_reduce_us));
}

struct Candidate {
  double took_us = 0;
  size_t place = 0;
};

// The largest, where it is so much larger than the median of the others.
std::optional<Candidate> outstanding(const std::vector<double>& values, double all_reduce_us, double& usual_us) {
  const auto largest = std::ranges::max_element(values);
  std::vector<double> others = values;
  others.erase(others.begin() + (largest - values.begin()));
  usual_us = median(std::move(others));
  if (*largest <= kTimesUsual * usual_us || *largest - usual_us < kShareOfAll * all_reduce_us) return std::nullopt;
  return Candidate{.took_us = *largest, .place = static_cast<size_t>(largest - values.begin())};
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
  std::vector<double> own;
  std::map<std::pair<uint32_t, uint32_t>, double> links;  // all that was on its way over each
  for (uint32_t rank = 0; rank < all.size(); ++rank) {
    totals.push_back(all[rank].p50_us);
    own.push_back(own_us(algorithm, all[rank]));
    for (uint32_t step = 0; step < all[rank].step_waited_us.size(); ++step)
      links[{source_of(algorithm, rank, count(all), step).rank, rank}] += transfer_us(algorithm, all, rank, step);
  }
  Straggler found{.rank = {}, .all_reduce_us = median(std::move(totals))};
  if (const auto slow = outstanding(own, found.all_reduce_us, found.usual_us)) {
    found.rank = static_cast<uint32_t>(slow->place);
    found.took_us = slow->took_us;
    return found;
  }
  std::vector<double> transfers;
  for (const auto& [way, us] : links) transfers.push_back(us);
  const auto slow = outstanding(transfers, found.all_reduce_us, found.usual_us);
  if (!slow) return std::nullopt;
  const auto way = std::next(links.begin(), static_cast<ptrdiff_t>(slow->place))->first;
  found.from = way.first;
  found.to = way.second;
  found.took_us = slow->took_us;
  return found;
}

}  // namespace railbed::perf::collective
