// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/order_interval.h"

#include <random>

#include <gtest/gtest.h>

namespace railbed::perf {
namespace {

// Exact sums of the binomial distribution, as tables of order statistics have them.
TEST(RankInterval, IsThatOfTheTables) {
  EXPECT_EQ(rank_interval(100, 50), (RankInterval{40, 61}));
  EXPECT_EQ(rank_interval(1000, 50), (RankInterval{469, 532}));
  EXPECT_EQ(rank_interval(1000, 90), (RankInterval{881, 919}));
}

TEST(RankInterval, OnlyWhereEnoughLieBeyond) {
  EXPECT_FALSE(rank_interval(0, 50));
  EXPECT_FALSE(rank_interval(19, 50));
  EXPECT_TRUE(rank_interval(20, 50));
  EXPECT_FALSE(rank_interval(9'999, 99.9));
  EXPECT_TRUE(rank_interval(10'001, 99.9));
  EXPECT_FALSE(rank_interval(99'000, 99.99));
  EXPECT_TRUE(rank_interval(10'000'000, 99.99));
}

// What the interval is for: in about 95 of 100 repeats it holds the true percentile.
TEST(PercentileInterval, HoldsTheTrueOneAsOftenAsItSays) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> durations(1e-5);  // nanoseconds, mean 100 us
  const double truth = -std::log(1 - 0.99) / 1e-5;
  int held = 0;
  constexpr int kRepeats = 400;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Histogram histogram;
    for (int i = 0; i < 2'000; ++i) histogram.record(static_cast<uint64_t>(durations(random)));
    const auto interval = percentile_interval(histogram, 99);
    ASSERT_TRUE(interval);
    EXPECT_LE(interval->low_ns, interval->value_ns);
    EXPECT_LE(interval->value_ns, interval->high_ns);
    if (static_cast<double>(interval->low_ns) <= truth && truth <= static_cast<double>(interval->high_ns)) ++held;
  }
  EXPECT_GT(held, kRepeats * 92 / 100);
  EXPECT_LT(held, kRepeats * 99 / 100);
}

TEST(PercentileInterval, OfAFewSamplesThereIsNone) {
  Histogram histogram;
  for (uint64_t i = 0; i < 500; ++i) histogram.record(i);
  EXPECT_TRUE(percentile_interval(histogram, 90));
  EXPECT_FALSE(percentile_interval(histogram, 99));
}

}  // namespace
}  // namespace railbed::perf
