// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(TrimmedTest, TakesWhatIsAroundAndNothingInside) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed("[\"a b\"]", "[]\""), "a b");
}

TEST(TrimmedTest, LeavesNothingOfBlanks) {
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\r"), "");
  EXPECT_EQ(trimmed(" \t\r\n"), "");
  EXPECT_EQ(trimmed("---", "-"), "");
}

}  // namespace
}  // namespace railbed
