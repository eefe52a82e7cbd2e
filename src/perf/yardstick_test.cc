// SPDX-License-Identifier: Apache-2.0
#include "perf/yardstick.h"

#include <gtest/gtest.h>

namespace railbed::perf {
namespace {

TEST(Yardstick, IsTheNarrowestPart) {
  const Endpoint end{.address = "10.1.0.5", .link_layer = "Ethernet", .path_mtu_bytes = 4096, .link_gbps = 400};
  EXPECT_NEAR(yardstick_gbps(end, end), 392.1, 0.1);
  Endpoint small_mtu = end;
  small_mtu.path_mtu_bytes = 1024;
  EXPECT_NEAR(yardstick_gbps(end, small_mtu), 370.3, 0.1);
  Endpoint v6 = end;
  v6.address = "fd00::5";
  EXPECT_NEAR(yardstick_gbps(v6, v6), 390.3, 0.1);
  Endpoint infiniband = end;
  infiniband.link_layer = "InfiniBand";
  EXPECT_NEAR(yardstick_gbps(infiniband, infiniband), 397.5, 0.1);
  Endpoint slow_slot = end;
  slow_slot.pcie_gbps = 115;
  EXPECT_EQ(yardstick_gbps(end, slow_slot), 115);
  Endpoint slow_link = end;
  slow_link.link_gbps = 100;
  EXPECT_NEAR(yardstick_gbps(slow_link, end), 98, 0.1);
  Endpoint unknown = end;
  unknown.link_gbps = 0;
  EXPECT_EQ(yardstick_gbps(end, unknown), 0);
  unknown = end;
  unknown.path_mtu_bytes = 0;
  EXPECT_EQ(yardstick_gbps(end, unknown), 0);
}

}  // namespace
}  // namespace railbed::perf
