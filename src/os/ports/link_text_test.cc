// SPDX-License-Identifier: Apache-2.0
#include "os/ports/link_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace railbed::os
