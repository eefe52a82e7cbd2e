// SPDX-License-Identifier: Apache-2.0
#include "facts/assemble.h"

#include <gtest/gtest.h>

namespace railbed::facts {
namespace {

os::VfInfo info(int index) {
  return {.index = {index},
          .mac = *MacAddress::parse("00:00:01:27:fe:80"),
          .vlan = 10,
          .qos = 2,
          .proto = os::VlanProto::k8021ad,
          .spoof_check = true,
          .query_rss = false,
          .link_state = os::VfLinkState::kDisable,
          .max_tx_rate_mbps = 500,
          .node_guid = Guid{},
          .port_guid = Guid{0x0200'5e00'00aa'0101}};
}

TEST(ApplyVfInfo, EthernetVfs) {
  Nic nic{.link_type = LinkType::kEthernet, .vfs = {{.index = {0}}, {.index = {3}}}};
  apply_vf_info(nic, {info(3), info(7)});
  EXPECT_EQ(nic.vfs[0], Vf{.index = {0}});
  const Vf& vf = nic.vfs[1];
  EXPECT_EQ(vf.admin_mac, *MacAddress::parse("00:00:01:27:fe:80"));
  EXPECT_EQ(vf.vlan, 10);
  EXPECT_EQ(vf.vlan_qos, 2);
  EXPECT_EQ(vf.vlan_proto, "802.1ad");
  EXPECT_EQ(vf.spoof_check, true);
  EXPECT_EQ(vf.trust, std::nullopt);
  EXPECT_EQ(vf.query_rss, false);
  EXPECT_EQ(vf.link_state, "disable");
  EXPECT_EQ(vf.max_tx_rate_mbps, 500);
}

// Old kernels show the front of the 20-byte address as a MAC, and a node GUID of zero until somebody sets one.
TEST(ApplyVfInfo, InfinibandVfs) {
  Nic nic{.link_type = LinkType::kInfiniband, .vfs = {{.index = {0}}}};
  apply_vf_info(nic, {info(0)});
  EXPECT_EQ(nic.vfs[0].admin_mac, std::nullopt);
  EXPECT_EQ(nic.vfs[0].node_guid, std::nullopt);
  EXPECT_EQ(nic.vfs[0].port_guid, Guid{0x0200'5e00'00aa'0101});
}

TEST(Representors, AreReportedByTheirPortName) {
  for (const char* name : {"pf0vf0", "pf1vf127", "c1pf0vf3", "pf0sf88"}) EXPECT_TRUE(is_representor(name)) << name;
  for (const char* name : {"", "p0", "p1", "pf0", "vf0", "pf"}) EXPECT_FALSE(is_representor(name)) << name;
}

TEST(RoceMtu, IsWhatFitsBesideTheHeaders) {
  EXPECT_EQ(roce_mtu(1500), 1024);
  EXPECT_EQ(roce_mtu(4200), 4096);
  EXPECT_EQ(roce_mtu(4191), 2048);
  EXPECT_EQ(roce_mtu(9000), 4096);
  EXPECT_EQ(roce_mtu(300), 0);
}

}  // namespace
}  // namespace railbed::facts
