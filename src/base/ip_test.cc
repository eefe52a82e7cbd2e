// SPDX-License-Identifier: Apache-2.0
#include "base/ip.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed {
namespace {

TEST(IpAddress, CountsAcrossBytes) {
  EXPECT_EQ(IpAddress::parse("10.0.0.255")->plus(1)->to_string(), "10.0.1.0");
  EXPECT_EQ(IpAddress::parse("fd00::ffff")->plus(1)->to_string(), "fd00::1:0");
  EXPECT_FALSE(IpAddress::parse("255.255.255.255")->plus(1).has_value());
  EXPECT_EQ(IpAddress::parse("10.0.1.0")->minus(*IpAddress::parse("10.0.0.0")), 256u);
  EXPECT_FALSE(IpAddress::parse("10.0.0.0")->minus(*IpAddress::parse("10.0.1.0")).has_value());
  EXPECT_EQ(IpAddress::parse("10.0.0.x").error().to_string(), "\"10.0.0.x\" is not an IP address");
}

RC_GTEST_PROP(IpAddress, MinusUndoesPlus, (uint32_t base, uint32_t steps)) {
  IpAddress first = IpAddress::from_v4(base);
  auto sum = first.plus(steps);
  RC_ASSERT(sum.has_value() == (uint64_t{base} + steps <= UINT32_MAX));
  if (sum) RC_ASSERT(sum->minus(first) == steps);
}

TEST(IpPrefix, KnowsItsBounds) {
  IpPrefix prefix = *IpPrefix::parse("192.168.100.7/22");
  EXPECT_EQ(prefix.network().to_string(), "192.168.100.0");
  EXPECT_EQ(prefix.last().to_string(), "192.168.103.255");
  EXPECT_TRUE(prefix.contains(*IpAddress::parse("192.168.102.1")));
  EXPECT_FALSE(prefix.contains(*IpAddress::parse("192.168.104.0")));
  EXPECT_TRUE(prefix.overlaps(*IpPrefix::parse("192.168.0.0/16")));
  EXPECT_FALSE(prefix.overlaps(*IpPrefix::parse("fd00::/8")));
  EXPECT_EQ(IpPrefix::parse("10.0.0.0").error().to_string(),
            "\"10.0.0.0\" has no prefix length (a prefix looks like 10.0.0.0/24)");
  EXPECT_EQ(IpPrefix::parse("10.0.0.0/33").error().to_string(), "\"10.0.0.0/33\": the prefix length must be 0 to 32");
}

// A view may end in the middle of longer text: what follows is not read.
TEST(IpPrefix, ReadsItsOwnTextOnly) {
  EXPECT_EQ(IpPrefix::parse(std::string_view("10.0.0.0/245").substr(0, 11))->to_string(), "10.0.0.0/24");
  EXPECT_EQ(IpPrefix::parse("10.0.0.0/24 ").error().message, "\"10.0.0.0/24 \": the prefix length must be 0 to 32");
  EXPECT_EQ(IpPrefix::parse("10.0.0.0/33").error().message, "\"10.0.0.0/33\": the prefix length must be 0 to 32");
  EXPECT_EQ(IpPrefix::parse("10.0.0.0/-1").error().message, "\"10.0.0.0/-1\": the prefix length must be 0 to 32");
  EXPECT_EQ(IpPrefix::parse("fd00::/129").error().message, "\"fd00::/129\": the prefix length must be 0 to 128");
  EXPECT_EQ(IpPrefix::parse("fd00::/128")->to_string(), "fd00::/128");
  EXPECT_EQ(IpPrefix::parse("10.0.0.0/0")->to_string(), "10.0.0.0/0");
}

TEST(IpRange, CountsBothEnds) {
  IpRange range{*IpAddress::parse("10.0.0.10"), *IpAddress::parse("10.0.0.12")};
  EXPECT_EQ(range.size(), 3u);
  EXPECT_EQ(range.to_string(), "10.0.0.10-10.0.0.12");
  EXPECT_EQ((IpRange{*IpAddress::parse("::"), *IpAddress::parse("ffff::")}.size()), UINT64_MAX);
}

}  // namespace
}  // namespace railbed
