// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/link_codec.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

#include "base/hex.h"
#include "os/netlink/test_messages.h"
#include "os/ports/netns.h"

namespace railbed::os {
namespace {

NetlinkMessage as_message(const NetlinkRequest& request) {
  return as_message(request, static_cast<uint16_t>(request.bytes()[4] | request.bytes()[5] << 8));
}

std::vector<Attribute> attributes_of(const NetlinkMessage& message) {
  return message.attributes_after(sizeof(ifinfomsg));
}

const Attribute* find(const std::vector<Attribute>& all, uint16_t type) {
  for (const Attribute& attribute : all)
    if (attribute.type == type) return &attribute;
  return nullptr;
}

TEST(LinkCodec, MoveAndRenameIsOneSmallMessage) {
  Netns target(-1, "/run/netns/a");
  auto request = encode_change_link(IfIndex{7}, {.name = IfName{"net1"}, .netns = &target});
  // length 52, RTM_NEWLINK, REQUEST|ACK; index 7; IFLA_NET_NS_FD -1; IFLA_IFNAME "net1".
  EXPECT_EQ(hex_text(request.bytes()),
            "340000001000050000000000000000000000000007000000000000000000000008001c00ffffffff090003006e65743100000000");
}

TEST(LinkCodec, FlagsAreOnlyTouchedWhenAsked) {
  EXPECT_EQ(as_message(encode_change_link(IfIndex{7}, {.mtu = 9000})).header<ifinfomsg>()->ifi_change, 0U);
  auto up = as_message(encode_change_link(IfIndex{7}, {.up = true})).header<ifinfomsg>();
  EXPECT_EQ(up->ifi_change, unsigned{IFF_UP});
  EXPECT_EQ(up->ifi_flags, unsigned{IFF_UP});
  auto down = as_message(encode_change_link(IfIndex{7}, {.up = false})).header<ifinfomsg>();
  EXPECT_EQ(down->ifi_change, unsigned{IFF_UP});
  EXPECT_EQ(down->ifi_flags, 0U);
}

TEST(LinkCodec, ModesQueueAndMasterTravelInOneMessage) {
  auto request = encode_change_link(
      IfIndex{7}, {.up = true, .promiscuous = true, .all_multicast = false, .tx_queue = 77, .master = IfIndex{}});
  auto message = as_message(request);
  auto header = message.header<ifinfomsg>();
  EXPECT_EQ(header->ifi_change, unsigned{IFF_UP | IFF_PROMISC | IFF_ALLMULTI});
  EXPECT_EQ(header->ifi_flags, unsigned{IFF_UP | IFF_PROMISC});
  auto all = attributes_of(message);
  EXPECT_EQ(find(all, IFLA_MASTER)->u32(), 0U);
  auto link = decode_link(message);
  ASSERT_TRUE(link.has_value());
  EXPECT_TRUE(link->promiscuous);
  EXPECT_FALSE(link->all_multicast);
  EXPECT_EQ(link->tx_queue, 77);
}

TEST(LinkCodec, AVrfReportsItsTable) {
  auto message = as_message(encode_create_link({.kind = "vrf", .name = IfName{"blue"}, .table = 1005, .up = true}));
  EXPECT_EQ(message.header<ifinfomsg>()->ifi_flags, unsigned{IFF_UP});
  message.bytes[20] = 3;  // the kernel fills in the index
  auto link = decode_link(message);
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->kind, "vrf");
  EXPECT_EQ(link->vrf_table, 1005);
}

TEST(LinkCodec, CreatesVethWithAPeerElsewhere) {
  Netns pod(5, "pod");
  NewLink veth{.kind = "veth", .name = IfName{"v0"}, .mtu = 1400};
  veth.peer_name = IfName{"v1"};
  veth.peer_netns = &pod;
  auto message = as_message(encode_create_link(veth));
  auto info = attributes(find(attributes_of(message), IFLA_LINKINFO)->payload);
  EXPECT_EQ(find(info, IFLA_INFO_KIND)->text(), "veth");
  auto data = attributes(find(info, IFLA_INFO_DATA)->payload);
  auto peer = attributes(find(data, VETH_INFO_PEER)->payload.subspan(sizeof(ifinfomsg)));
  EXPECT_EQ(find(peer, IFLA_IFNAME)->text(), "v1");
  EXPECT_EQ(find(peer, IFLA_NET_NS_FD)->u32(), 5U);
  EXPECT_EQ(find(peer, IFLA_MTU)->u32(), 1400U);
  EXPECT_EQ(find(attributes_of(message), IFLA_NET_NS_FD), nullptr);
}

// Requests and reports about VFs have the same layout, so decoding an encoded change gives it back.
TEST(LinkCodec, VfSettingsGoBothWays) {
  VfChange change{.mac = MacAddress::parse("02:00:00:00:00:01").value()};
  change.vlan = VfChange::Vlan{.id = 100, .qos = 3, .proto = VlanProto::k8021ad};
  change.rate = VfChange::Rate{.min_mbps = 100, .max_mbps = 1000};
  change.spoof_check = false;
  change.trust = true;
  change.link_state = VfLinkState::kDisable;
  change.node_guid = Guid{0x1122334455667788};
  change.port_guid = Guid{0x1122334455667799};
  auto link = decode_link(as_message(encode_change_vf(IfIndex{3}, VfIndex{6}, change), RTM_NEWLINK));
  ASSERT_TRUE(link.has_value());
  VfInfo wanted{.index = VfIndex{6}, .mac = change.mac, .vlan = 100, .qos = 3, .proto = VlanProto::k8021ad};
  wanted.spoof_check = false;
  wanted.trust = true;
  wanted.link_state = VfLinkState::kDisable;
  wanted.min_tx_rate_mbps = 100;
  wanted.max_tx_rate_mbps = 1000;
  wanted.node_guid = change.node_guid;
  wanted.port_guid = change.port_guid;
  EXPECT_EQ(link->vfs, std::vector<VfInfo>{wanted});
}

TEST(LinkCodec, SettingsOfSeveralVfsGoInOneMessage) {
  const MacAddress first = MacAddress::parse("02:00:00:00:00:01").value();
  const MacAddress second = MacAddress::parse("02:00:00:00:00:02").value();
  const std::vector<VfSetting> settings = {{VfIndex{0}, {.mac = first}}, {VfIndex{5}, {.mac = second, .trust = true}}};
  auto link = decode_link(as_message(encode_change_vfs(IfIndex{3}, settings), RTM_NEWLINK));
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->index, IfIndex{3});
  VfInfo trusted{.index = VfIndex{5}, .mac = second};
  trusted.trust = true;
  EXPECT_EQ(link->vfs, (std::vector<VfInfo>{{.index = VfIndex{0}, .mac = first}, trusted}));
}

TEST(LinkCodec, AMessageHasRoomForTheVfsThatGoInOne) {
  VfChange all{.mac = MacAddress::parse("02:00:00:00:00:01").value()};
  all.vlan = VfChange::Vlan{.id = 100, .qos = 3, .proto = VlanProto::k8021ad};
  all.rate = VfChange::Rate{.min_mbps = 100, .max_mbps = 1000};
  all.spoof_check = all.trust = true;
  all.link_state = VfLinkState::kDisable;
  all.node_guid = all.port_guid = Guid{0x1122334455667788};
  std::vector<VfSetting> settings;
  for (int vf = 0; vf < 32; ++vf) settings.push_back({VfIndex{vf}, all});
  EXPECT_FALSE(encode_change_vfs(IfIndex{3}, settings).overflowed());
}

TEST(LinkCodec, PlainVlansUseTheOldForm) {
  VfChange change;
  change.vlan = VfChange::Vlan{.id = 7, .qos = 0};
  auto message = as_message(encode_change_vf(IfIndex{3}, VfIndex{1}, change), RTM_NEWLINK);
  auto list = attributes(find(attributes_of(message), IFLA_VFINFO_LIST)->payload);
  auto info = attributes(find(list, IFLA_VF_INFO)->payload);
  EXPECT_NE(find(info, IFLA_VF_VLAN), nullptr);
  EXPECT_EQ(find(info, IFLA_VF_VLAN_LIST), nullptr);
}

NetlinkRequest sample_link(uint16_t arp_type) {
  NetlinkRequest sample(RTM_NEWLINK, 0);
  sample.put_header(
      ifinfomsg{.ifi_family = 0, .ifi_type = arp_type, .ifi_index = 4, .ifi_flags = IFF_UP | IFF_LOWER_UP});
  sample.put_text(IFLA_IFNAME, "ens1f0np0");
  sample.put_u32(IFLA_MTU, 9000);
  sample.put_u8(IFLA_OPERSTATE, 6);
  sample.put_u32(IFLA_MASTER, 9);
  sample.put_u32(IFLA_NUM_VF, 2);
  sample.put_u32(IFLA_GROUP, 12);
  sample.put_u32(IFLA_LINK, 3);
  sample.put_u32(IFLA_LINK_NETNSID, 0);
  sample.put_text(IFLA_IFALIAS, "rail 0");
  sample.put_value(IFLA_ADDRESS, MacAddress{{2, 0, 0, 0, 0, 1}}.bytes);
  sample.put_value(IFLA_PERM_ADDRESS, MacAddress{{2, 0, 0, 0, 0, 2}}.bytes);
  sample.put_text(IFLA_PARENT_DEV_NAME, "0000:3c:00.0");
  sample.put_text(IFLA_PARENT_DEV_BUS_NAME, "pci");
  size_t properties = sample.begin(IFLA_PROP_LIST);
  sample.put_text(IFLA_ALT_IFNAME, "enp60s0f0np0");
  sample.put_text(IFLA_ALT_IFNAME, "rail0");
  sample.end(properties);
  size_t info = sample.begin(IFLA_LINKINFO);
  sample.put_text(IFLA_INFO_KIND, "bond");
  sample.end(info);
  size_t vfs = sample.begin(IFLA_VFINFO_LIST);
  for (uint32_t index : {0U, 1U}) {
    size_t vf = sample.begin(IFLA_VF_INFO);
    sample.put_value(IFLA_VF_MAC, ifla_vf_mac{.vf = index, .mac = {2, 0, 0, 0, 0, 7}});
    sample.put_value(IFLA_VF_SPOOFCHK, ifla_vf_spoofchk{.vf = index, .setting = UINT32_MAX});
    sample.put_value(IFLA_VF_TRUST, ifla_vf_trust{.vf = index, .setting = UINT32_MAX});
    sample.put_value(IFLA_VF_RSS_QUERY_EN, ifla_vf_rss_query_en{.vf = index, .setting = index});
    sample.end(vf);
  }
  sample.end(vfs);
  return sample;
}

TEST(LinkCodec, ReadsALink) {
  auto link = decode_link(as_message(sample_link(ARPHRD_ETHER)));
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->index, IfIndex{4});
  EXPECT_EQ(link->name.value, "ens1f0np0");
  EXPECT_EQ(link->alt_names, (std::vector<std::string>{"enp60s0f0np0", "rail0"}));
  EXPECT_EQ(link->alias, "rail 0");
  EXPECT_EQ(link->parent, IfIndex{3});
  EXPECT_TRUE(link->parent_elsewhere);
  EXPECT_EQ(link->parent_netns_id, 0);
  EXPECT_EQ(link->kind, "bond");
  EXPECT_EQ(link->mac()->to_string(), "02:00:00:00:00:01");
  EXPECT_EQ(link->permanent_address, (std::vector<uint8_t>{2, 0, 0, 0, 0, 2}));
  EXPECT_TRUE(link->up);
  EXPECT_TRUE(link->lower_up);
  EXPECT_EQ(link->oper_state, "up");
  EXPECT_EQ(link->mtu, 9000);
  EXPECT_EQ(link->master, IfIndex{9});
  EXPECT_EQ(link->parent_bus, "pci");
  EXPECT_EQ(link->parent_device, "0000:3c:00.0");
  EXPECT_EQ(link->group, 12U);
  EXPECT_EQ(link->num_vfs, 2);
  ASSERT_EQ(link->vfs.size(), 2U);
  EXPECT_EQ(link->vfs[1].index, VfIndex{1});
  EXPECT_EQ(link->vfs[1].mac->to_string(), "02:00:00:00:00:07");
  EXPECT_EQ(link->vfs[1].spoof_check, std::nullopt);  // the driver has no such setting
  EXPECT_EQ(link->vfs[1].trust, std::nullopt);
  EXPECT_EQ(link->vfs[0].query_rss, false);
  EXPECT_EQ(link->vfs[1].query_rss, true);
}

TEST(LinkCodec, AnInfinibandVfHasNoMac) {
  auto link = decode_link(as_message(sample_link(ARPHRD_INFINIBAND)));
  EXPECT_EQ(link->vfs.at(0).mac, std::nullopt);
}

// A message that is cut anywhere decodes to less, or to nothing; the sanitizer build sees reads past the end.
TEST(LinkCodec, AnInterfaceIsGoneWhenItHasLeftItsNamespaceNotABridge) {
  const auto announced = [](uint16_t type, unsigned char family, int index) {
    NetlinkRequest message(type, 0);
    ifinfomsg header{};
    header.ifi_family = family;
    header.ifi_index = index;
    message.put_header(header);
    return decode_gone({type, {message.bytes().begin(), message.bytes().end()}});
  };
  EXPECT_EQ(announced(RTM_DELLINK, AF_UNSPEC, 7), IfIndex{7});
  EXPECT_EQ(announced(RTM_DELLINK, AF_BRIDGE, 7), std::nullopt);
  EXPECT_EQ(announced(RTM_NEWLINK, AF_UNSPEC, 7), std::nullopt);
  EXPECT_EQ(announced(RTM_DELLINK, AF_UNSPEC, 0), std::nullopt);
  EXPECT_EQ(decode_gone({RTM_DELLINK, std::vector<uint8_t>(20)}), std::nullopt);
}

TEST(LinkCodec, CutMessagesAreRead) {
  auto whole = as_message(sample_link(ARPHRD_ETHER));
  for (size_t size = 0; size < whole.bytes.size(); ++size) {
    NetlinkMessage cut{whole.type, {whole.bytes.begin(), whole.bytes.begin() + static_cast<ptrdiff_t>(size)}};
    auto link = decode_link(cut);
    EXPECT_EQ(link.has_value(), size >= sizeof(nlmsghdr) + sizeof(ifinfomsg)) << size;
  }
  EXPECT_EQ(decode_link({RTM_DELLINK, whole.bytes}), std::nullopt);
}

}  // namespace
}  // namespace railbed::os
