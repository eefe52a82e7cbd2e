// SPDX-License-Identifier: Apache-2.0
#include "base/median.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(MedianTest, OfAnOddNumberIsTheMiddle) {
  const std::vector<double> values = {9, 1, 5};
  EXPECT_EQ(median_low(values), 5);
  EXPECT_EQ(median_high(values), 5);
  EXPECT_EQ(median_mean(values), 5);
  EXPECT_EQ(median_low(std::vector<int>{7}), 7);
}

TEST(MedianTest, OfAnEvenNumberIsTheOneThatItsNameSays) {
  const std::vector<double> values = {4, 1, 2, 9};
  EXPECT_EQ(median_low(values), 2);
  EXPECT_EQ(median_high(values), 4);
  EXPECT_EQ(median_mean(values), 3);
}

}  // namespace
}  // namespace railbed
