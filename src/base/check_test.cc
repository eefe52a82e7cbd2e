// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(CheckDeathTest, EndsTheProgramWithThePlaceAndTheCondition) {
  const int turns = 2;
  EXPECT_DEATH(RAILBED_CHECK(turns == 1), "a defect of this program: .*check_test.cc:[0-9]+: turns == 1 does not hold");
}

TEST(Check, IsEvaluatedOnce) {
  int asked = 0;
  RAILBED_CHECK(++asked == 1);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace railbed
