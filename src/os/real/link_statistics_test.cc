// SPDX-License-Identifier: Apache-2.0
// The layout, and what fails on any machine; a driver that counts is in the lab (tests/lab/perf.sh).
#include "os/ports/link_statistics.h"

#include <gtest/gtest.h>

#include "os/real/ethtool_codec.h"

namespace railbed::os {
namespace {

std::string field(const std::string& name) {
  std::string bytes = name;
  bytes.resize(32);
  return bytes;
}

TEST(NamedStatistics, AreAsTheKernelLaysThemOut) {
  const std::string longest(32, 'x');  // without a zero at its end
  const std::string names = field("rx_prio3_pause") + longest + field("") + field("rx_prio3_pause") + field("tx_pause");
  const uint64_t values[] = {7, UINT64_MAX, 1, 2, 0};
  using Statistics = std::map<std::string, uint64_t>;
  EXPECT_EQ(named_statistics(names, values),
            (Statistics{{"rx_prio3_pause", 7}, {longest, UINT64_MAX}, {"tx_pause", 0}}));
  // Of names or values that are missing nothing is made up.
  EXPECT_EQ(named_statistics(names, std::span(values, 1)), (Statistics{{"rx_prio3_pause", 7}}));
  EXPECT_EQ(named_statistics(names.substr(0, 63), values), (Statistics{{"rx_prio3_pause", 7}}));
  EXPECT_EQ(named_statistics("", values), Statistics{});
}

TEST(LinkStatistics, SaysWhoseDriverCountsNothing) {
  const auto why = [](const std::string& name) {
    const auto read = real_link_statistics()->read(name);
    return read ? "read" : read.error().to_string();
  };
  EXPECT_EQ(why("no-such-link"), "ETHTOOL_GSSET_INFO no-such-link: ENODEV (No such device)");
  EXPECT_EQ(real_link_statistics()->read("no-such-link").error().code, Code::kNotFound);
  EXPECT_EQ(why("longer-than-fits"), "\"longer-than-fits\" is not an interface name");
  EXPECT_EQ(why(""), "\"\" is not an interface name");
  // The loopback interface has no driver.
  EXPECT_EQ(why("lo"), "ETHTOOL_GSSET_INFO lo: its driver counts nothing");
  EXPECT_EQ(real_link_statistics()->read("lo").error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace railbed::os
