// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/trend.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace railbed::perf {
namespace {

TEST(Trend, OfAStraightLineIsExact) {
  const std::vector<TrendPoint> points{{0, 1}, {1, 3}, {2, 5}, {4, 9}};
  const auto trend = trend_of(points);
  ASSERT_TRUE(trend);
  EXPECT_DOUBLE_EQ(trend->slope, 2);
  EXPECT_NEAR(trend->error, 0, 1e-12);
  EXPECT_TRUE(trend->is_clear());
}

// By hand: slope 0.5, residuals 0.5, -1, 0.5 (of the middle twice as far), Sxx 2, one degree of freedom.
TEST(Trend, ErrorIsThatOfTheSlope) {
  const std::vector<TrendPoint> points{{0, 1}, {1, 0}, {2, 2}};
  const auto trend = trend_of(points);
  ASSERT_TRUE(trend);
  EXPECT_DOUBLE_EQ(trend->slope, 0.5);
  EXPECT_NEAR(trend->error, 0.8660254, 1e-7);
  EXPECT_FALSE(trend->is_clear());
}

TEST(Trend, NoneOfTooLittle) {
  EXPECT_FALSE(trend_of({}));
  const std::vector<TrendPoint> two{{0, 1}, {1, 2}};
  EXPECT_FALSE(trend_of(two));
  const std::vector<TrendPoint> at_once{{1, 1}, {1, 2}, {1, 3}};
  EXPECT_FALSE(trend_of(at_once));
}

TEST(Trend, NoiseIsNoTrendAsARule) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(100, 10);
  int clear = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<TrendPoint> points;
    for (int i = 0; i < 50; ++i) points.push_back({static_cast<double>(i), noise(random)});
    if (trend_of(points)->is_clear()) ++clear;
  }
  EXPECT_LT(clear, 20);
}

}  // namespace
}  // namespace railbed::perf
