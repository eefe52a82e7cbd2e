// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

using std::chrono::seconds;

TEST(Duration, IsANumberWithItsUnit) {
  EXPECT_EQ(parse_duration("0s").value(), seconds(0));
  EXPECT_EQ(parse_duration("90s").value(), seconds(90));
  EXPECT_EQ(parse_duration("30m").value(), seconds(1800));
  EXPECT_EQ(parse_duration("24h").value(), seconds(86400));
  EXPECT_EQ(parse_duration("3650d").value(), seconds(315360000));
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text :
       {"", "h", "24", "-1h", "1.5h", "1h30m", " 1h", "1h ", "1H", "3651d", "99999999999999999999s"}) {
    const auto read = parse_duration(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().to_string(), fmt::format("\"{}\" is not a duration\n"
                                                    "  a number with s, m, h or d, of at most 3650d: 90s, 30m, 24h, 2d",
                                                    text));
  }
}

}  // namespace
}  // namespace railbed
