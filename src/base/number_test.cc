// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(WholeNumberTest, ReadsTheWholeText) {
  EXPECT_EQ(whole_number<int>("0"), 0);
  EXPECT_EQ(whole_number<int>("007"), 7);
  EXPECT_EQ(whole_number<int>("-12"), -12);
  EXPECT_EQ(whole_number<uint32_t>("1fB", 16), 0x1fbu);
  EXPECT_EQ(whole_number<int64_t>("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(whole_number<uint16_t>("65535"), 65535);
}

TEST(WholeNumberTest, RefusesEverythingElse) {
  for (const char* text : {"", " ", "1 ", " 1", "+1", "1a", "0x1", "1.0", "1e3", "--1", "-"})
    EXPECT_EQ(whole_number<int>(text), std::nullopt) << '"' << text << '"';
  EXPECT_EQ(whole_number<uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(whole_number<uint32_t>("0x1f", 16), std::nullopt);
  EXPECT_EQ(whole_number<uint32_t>("g", 16), std::nullopt);
}

TEST(WholeNumberTest, RefusesWhatTheTypeDoesNotHold) {
  EXPECT_EQ(whole_number<uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(whole_number<int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(whole_number<uint64_t>("18446744073709551616"), std::nullopt);
}

}  // namespace
}  // namespace railbed
