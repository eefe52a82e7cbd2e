// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/rdma_place.h"

#include <gtest/gtest.h>

#include "rdma/test_gids.h"

namespace railbed::perf {
namespace {

TEST(PortBelongsTo, FindsARocePortByInterfaceAndAddress) {
  const rdma::LocalNetwork network = rdma::pod_network();
  PortFacts port;
  port.gids = {rdma::entry(3, rdma::GidType::kRoceV2, "10.9.0.7", 5)};
  EXPECT_FALSE(port_belongs_to(port, network.interfaces[1], network));  // number 5, but another namespace's
  port.gids = rdma::shared_table();
  EXPECT_TRUE(port_belongs_to(port, network.interfaces[1], network));
  EXPECT_FALSE(port_belongs_to(port, network.interfaces[2], network));
}

TEST(PortBelongsTo, FindsAnInfiniBandPortByTheIpoibAddress) {
  const Gid gid = *Gid::parse("fe80:0000:0000:0000:506b:4b03:00c1:7d2e");
  rdma::LocalInterface ib0{.index = IfIndex{9}, .name = IfName{"ib0"}, .hardware_address = {0, 0, 1, 7}, .is_up = true};
  for (uint8_t byte : gid.bytes) ib0.hardware_address.push_back(byte);
  PortFacts port;
  port.is_infiniband = true;
  port.gids = {{.gid = gid, .index = 0, .port = 1, .type = rdma::GidType::kInfiniBand, .netdev = {}}};
  EXPECT_TRUE(port_belongs_to(port, ib0, {}));
  ib0.hardware_address.back() ^= 1;
  EXPECT_FALSE(port_belongs_to(port, ib0, {}));
}

}  // namespace
}  // namespace railbed::perf
