// SPDX-License-Identifier: Apache-2.0
#include "attach/vf_settings.h"

#include <gtest/gtest.h>

namespace railbed::attach {
namespace {

using os::VfChange;

const os::VfInfo kNow{.mac = *MacAddress::parse("02:00:00:00:00:01"),
                      .vlan = 5,
                      .qos = 1,
                      .proto = os::VlanProto::k8021ad,
                      .spoof_check = true,
                      .trust = false,
                      .link_state = os::VfLinkState::kEnable,
                      .min_tx_rate_mbps = 10,
                      .max_tx_rate_mbps = 100,
                      .node_guid = Guid{1},
                      .port_guid = Guid{2}};
const VfChange kAll{.mac = kNow.mac,
                    .vlan = VfChange::Vlan{5, 1, os::VlanProto::k8021ad},
                    .spoof_check = true,
                    .trust = false,
                    .link_state = os::VfLinkState::kEnable,
                    .rate = VfChange::Rate{10, 100},
                    .node_guid = Guid{1},
                    .port_guid = Guid{2}};

const VfChange kOthers[] = {
    {.mac = *MacAddress::parse("02:00:00:00:00:02")},
    {.vlan = VfChange::Vlan{6, 1, os::VlanProto::k8021ad}},
    {.vlan = VfChange::Vlan{5, 2, os::VlanProto::k8021ad}},
    {.vlan = VfChange::Vlan{5, 1, os::VlanProto::k8021q}},
    {.spoof_check = false},
    {.trust = true},
    {.link_state = os::VfLinkState::kAuto},
    {.rate = VfChange::Rate{11, 100}},
    {.rate = VfChange::Rate{10, 101}},
    {.node_guid = Guid{3}},
    {.port_guid = Guid{4}},
};

TEST(VfSettings, OnlyDifferencesAreAskedFor) {
  os::VfInfo now{.index = VfIndex{0}, .vlan = 5, .spoof_check = true, .trust = std::nullopt};
  os::VfChange wanted{.vlan = os::VfChange::Vlan{5, 0, os::VlanProto::k8021q},
                      .spoof_check = false,
                      .trust = false,
                      .link_state = os::VfLinkState::kAuto,
                      .rate = os::VfChange::Rate{0, 0}};
  EXPECT_EQ(differing(wanted, now), (os::VfChange{.spoof_check = false}));
  EXPECT_EQ(present(differing(wanted, now), now), (os::VfChange{.spoof_check = true}));
}

TEST(VfSettings, ThatHoldAlreadyAreNotAskedFor) {
  EXPECT_EQ(differing(kAll, kNow), VfChange{});
}

TEST(VfSettings, ThatDifferAreAskedForAlone) {
  for (size_t i = 0; i < std::size(kOthers); ++i) {
    VfChange wanted = kAll;
    const auto take = [&](auto member) {
      if ((kOthers[i].*member).has_value()) wanted.*member = kOthers[i].*member;
    };
    take(&VfChange::mac);
    take(&VfChange::vlan);
    take(&VfChange::spoof_check);
    take(&VfChange::trust);
    take(&VfChange::link_state);
    take(&VfChange::rate);
    take(&VfChange::node_guid);
    take(&VfChange::port_guid);
    EXPECT_TRUE(differing(wanted, kNow) == kOthers[i]) << "number " << i;
  }
}

// A driver that does not report a setting is asked only for what no VF starts with.
TEST(VfSettings, ThatAreNotReportedAreAskedForUnlessTheyAreTheUsualOnes) {
  const os::VfInfo silent;
  EXPECT_EQ(differing({.trust = false, .link_state = os::VfLinkState::kAuto}, silent), VfChange{});
  const VfChange unusual{.trust = true, .link_state = os::VfLinkState::kDisable};
  EXPECT_TRUE(differing(unusual, silent) == unusual);
}

// Without a VLAN the protocol means nothing.
TEST(VfSettings, NoVlanIsNoVlanWhateverItsProtocol) {
  EXPECT_EQ(differing({.vlan = VfChange::Vlan{0, 0, os::VlanProto::k8021ad}}, {}), VfChange{});
  const VfChange priority{.vlan = VfChange::Vlan{0, 3, os::VlanProto::k8021q}};
  EXPECT_TRUE(differing(priority, {}) == priority);
}

TEST(VfSettings, PresentOnesAreThoseOfTheChange) {
  EXPECT_TRUE(present(kAll, kNow) == kAll);
  for (const VfChange& other : kOthers) {
    const VfChange now = present(other, kNow);
    EXPECT_EQ(now.mac.has_value(), other.mac.has_value());
    EXPECT_EQ(now.vlan.has_value(), other.vlan.has_value());
    EXPECT_EQ(now.spoof_check.has_value(), other.spoof_check.has_value());
    EXPECT_EQ(now.trust.has_value(), other.trust.has_value());
    EXPECT_EQ(now.link_state.has_value(), other.link_state.has_value());
    EXPECT_EQ(now.rate.has_value(), other.rate.has_value());
    EXPECT_EQ(now.node_guid.has_value(), other.node_guid.has_value());
    EXPECT_EQ(now.port_guid.has_value(), other.port_guid.has_value());
  }
}

}  // namespace
}  // namespace railbed::attach
