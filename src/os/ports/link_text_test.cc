// SPDX-License-Identifier: Apache-2.0
#include "os/ports/link_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/ports/netns.h"

namespace railbed::os {
namespace {

TEST(LinkText, SplitsAVfsSettingsIntoOneEach) {
  VfChange all;
  all.mac = *MacAddress::parse("02:00:00:00:00:01");
  all.vlan = VfChange::Vlan{.id = 5, .qos = 2, .proto = VlanProto::k8021ad};
  all.rate = VfChange::Rate{.min_mbps = 10, .max_mbps = 100};
  all.spoof_check = true;
  all.trust = false;
  all.link_state = VfLinkState::kDisable;
  all.node_guid = Guid{0x0200000000000001};
  all.port_guid = Guid{0x0200000000000002};
  std::vector<std::string> texts;
  for (const auto& [text, one] : single_changes(all)) {
    texts.push_back(text);
    EXPECT_EQ(single_changes(one).size(), 1U) << text;
  }
  EXPECT_THAT(texts, testing::ElementsAre("mac 02:00:00:00:00:01", "vlan 5 qos 2 proto 802.1ad",
                                          "min_tx_rate 10 max_tx_rate 100", "spoofchk on", "trust off", "state disable",
                                          "node_guid 02:00:00:00:00:00:00:01", "port_guid 02:00:00:00:00:00:00:02"));
  EXPECT_TRUE(single_changes({}).empty());
}

TEST(LinkText, DescribesEveryChange) {
  const Netns pod(-1, "/run/netns/p");
  LinkChange all{.name = IfName{"net1"}, .netns = &pod, .mtu = 9000, .up = true};
  all.mac = *MacAddress::parse("02:00:00:00:00:01");
  all.alias = "a b";
  all.promiscuous = true;
  all.all_multicast = false;
  all.tx_queue = 500;
  all.master = IfIndex{3};
  EXPECT_EQ(describe(all),
            " to /run/netns/p as net1 mtu 9000 mac 02:00:00:00:00:01 up alias \"a b\" promisc on allmulti off "
            "txqueuelen 500 master 3");
  LinkChange other{.name = IfName{"x"}, .up = false};
  other.promiscuous = false;
  other.all_multicast = true;
  other.master = IfIndex{};
  EXPECT_EQ(describe(other), " name x down promisc off allmulti on nomaster");
  EXPECT_EQ(describe(LinkChange{.netns = &pod}), " to /run/netns/p");
  EXPECT_EQ(describe(LinkChange{}), "");
}

TEST(LinkText, DescribesNewLinksRoutesAndRules) {
  const Netns pod(-1, "/run/netns/p");
  EXPECT_EQ(describe(NewLink{.kind = "veth", .name = IfName{"v0"}}), "v0 type veth");
  EXPECT_EQ(describe(NewLink{.kind = "veth", .name = IfName{"v0"}, .netns = &pod}), "v0 type veth in /run/netns/p");
  Route route{.destination = *IpPrefix::parse("10.0.0.0/8")};
  EXPECT_EQ(describe(route), "10.0.0.0/8");
  route.gateway = *IpAddress::parse("10.0.0.1");
  route.metric = 5;
  route.table = 254;
  EXPECT_EQ(describe(route), "10.0.0.0/8 via 10.0.0.1 metric 5");
  route.table = 253;
  route.destination = *IpPrefix::parse("0.0.0.0/0");
  EXPECT_EQ(describe(route), "default via 10.0.0.1 metric 5 table 253");
  EXPECT_EQ(describe(Rule{.source = *IpPrefix::parse("10.0.0.5/32"), .table = 100}), "from 10.0.0.5/32 lookup 100");
}

TEST(LinkText, StatesAndVlansOfAVf) {
  const auto text = [](const VfChange& change) { return single_changes(change).at(0).first; };
  for (const auto& [state, words] : {std::pair(VfLinkState::kAuto, "state auto"),
                                     {VfLinkState::kEnable, "state enable"},
                                     {VfLinkState::kDisable, "state disable"}})
    EXPECT_EQ(text({.link_state = state}), words);
  EXPECT_EQ(text({.vlan = VfChange::Vlan{.id = 7}}), "vlan 7 qos 0 proto 802.1Q");
  EXPECT_EQ(text({.spoof_check = false}), "spoofchk off");
  EXPECT_EQ(text({.trust = true}), "trust on");
}

TEST(Link, HasAMacOnlyWithSixBytes) {
  Link link;
  link.hw_address = {2, 0, 0, 0, 0, 9};
  EXPECT_EQ(link.mac()->to_string(), "02:00:00:00:00:09");
  link.hw_address.resize(20);
  EXPECT_FALSE(link.mac());
  link.hw_address.resize(5);
  EXPECT_FALSE(link.mac());
}

}  // namespace
}  // namespace railbed::os
