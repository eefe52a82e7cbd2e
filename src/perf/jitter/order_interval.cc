// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/order_interval.h"

#include <algorithm>
#include <cmath>

namespace railbed::perf {
namespace {

// The distribution of how many of n samples lie below a percentile, summed up from its ends. Its terms are next to
// nothing ten deviations away from the middle.
class Binomial {
 public:
  Binomial(double samples, double share)
      : n_(samples), p_(share), middle_(samples * share), reach_(10 * std::sqrt(samples * share * (1 - share)) + 10) {}

  double probability(double count) const {
    return std::exp(std::lgamma(n_ + 1) - std::lgamma(count + 1) - std::lgamma(n_ - count + 1) + count * std::log(p_) +
                    (n_ - count) * std::log1p(-p_));
  }
  // The largest count such that fewer come with at most this probability.
  double last_with_below(double most) const {
    double below = 0;
    for (double count = std::max(0.0, std::floor(middle_ - reach_));; ++count) {
      below += probability(count);
      if (below > most || count >= n_) return count;
    }
  }
  // The smallest count such that it, or more, come with at most this probability.
  double first_with_beyond(double most) const {
    double beyond = 0;
    for (double count = std::min(n_, std::ceil(middle_ + reach_));; --count) {
      beyond += probability(count);
      if (beyond > most || count <= 0) return count + 1;
    }
  }

 private:
  double n_;
  double p_;
  double middle_;
  double reach_;
};

}  // namespace

std::optional<RankInterval> rank_interval(uint64_t samples, double percent) {
  const double share = percent / 100;
  const auto n = static_cast<double>(samples);
  if (n * (1 - share) < static_cast<double>(Histogram::kNeededBeyond)) return std::nullopt;
  const Binomial below(n, share);
  const double each_side = (1 - kConfidence) / 2;
  const auto low = static_cast<uint64_t>(below.last_with_below(each_side));
  const auto high = static_cast<uint64_t>(below.first_with_beyond(each_side));
  if (low < 1 || high > samples) return std::nullopt;
  return RankInterval{.low = low, .high = high};
}

std::optional<PercentileInterval> percentile_interval(const Histogram& durations, double percent) {
  const auto value = durations.settled_percentile_ns(percent);
  const auto ranks = rank_interval(durations.count(), percent);
  if (!value || !ranks) return std::nullopt;
  return PercentileInterval{.value_ns = *value,
                            .low_ns = std::min(*value, durations.at_rank_ns(ranks->low)),
                            .high_ns = std::max(*value, durations.at_rank_ns(ranks->high))};
}

}  // namespace railbed::perf
