// SPDX-License-Identifier: Apache-2.0
// What fails before a packet is sent; the rest needs interfaces (tests/netns).
#include <gtest/gtest.h>

#include "os/ports/packets.h"

namespace railbed::os {
namespace {

TEST(RealPackets, SaysWhichNamespaceIsNone) {
  const auto why = [](const std::string& path) {
    const auto opened = real_packets()->open(path, "lo", 68);
    return opened ? "opened" : opened.error().to_string();
  };
  EXPECT_EQ(why("/nowhere/net"), "open network namespace /nowhere/net: ENOENT (No such file or directory)");
  EXPECT_EQ(why("/proc/self/cmdline"), "setns /proc/self/cmdline: EINVAL (Invalid argument)");
}

TEST(RealPackets, RefusesWhatIsNoInterfacesName) {
  const auto opened = real_packets()->open("/proc/self/ns/net", "longer-than-fits", 68);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().to_string(), "\"longer-than-fits\" is not an interface name");
}

}  // namespace
}  // namespace railbed::os
