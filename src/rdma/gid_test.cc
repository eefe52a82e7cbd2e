// SPDX-License-Identifier: Apache-2.0
#include "rdma/gid.h"

#include <gtest/gtest.h>

#include "rdma/test_gids.h"

namespace railbed::rdma {
namespace {

std::string choice(const std::vector<GidEntry>& table, std::string_view rule, std::optional<IpAddress> toward) {
  const auto parsed = GidRule::parse(rule);
  if (!parsed) return parsed.error().to_string();
  const auto chosen = choose_gid(table, pod_network(), *parsed, toward);
  return chosen ? chosen->reason : chosen.error().message;
}

TEST(ChooseGid, FollowsTheRules) {
  const auto table = shared_table();
  EXPECT_EQ(choice(table, "auto", ip("10.1.0.5")), "GID 5, RoCE v2, 10.1.0.5 on net1, by rule");
  EXPECT_EQ(choice(table, "", ip("fd00::5")), "GID 7, RoCE v2, fd00::5 on net1, by rule");
  // The control connection uses the cluster network: the choice is an IPv4 address of the rail.
  EXPECT_EQ(choice(table, "auto", ip("192.168.1.9")), "GID 5, RoCE v2, 10.1.0.5 on net1, by rule");
  EXPECT_EQ(choice(table, "auto", std::nullopt), "GID 5, RoCE v2, 10.1.0.5 on net1, by rule");
  EXPECT_EQ(choice(table, "auto", ip("fe80::ff:fe00:1")), "GID 1, RoCE v2, fe80::ff:fe00:1 on net1, by rule");
  EXPECT_EQ(choice(table, "v1", ip("10.1.0.5")), "GID 4, RoCE v1, 10.1.0.5 on net1, by rule");
  EXPECT_EQ(choice(table, "ipv6", ip("10.1.0.5")), "GID 7, RoCE v2, fd00::5 on net1, by rule");
  EXPECT_EQ(choice(table, "v1,ipv6", ip("10.1.0.5")), "GID 6, RoCE v1, fd00::5 on net1, by rule");
  EXPECT_EQ(choice(table, "index=6", ip("10.1.0.5")), "GID 6, RoCE v1, fd00::5 on net1, as configured");
  EXPECT_EQ(choice(table, "address=fd00::5,netdev=net1", ip("10.1.0.5")), "GID 7, RoCE v2, fd00::5 on net1, by rule");
}

TEST(ChooseGid, TakesALinkLocalGidOnlyWhenNothingElseIsLeft) {
  auto table = shared_table();
  table.resize(2);
  EXPECT_EQ(choice(table, "auto", ip("10.1.0.5")), "GID 1, RoCE v2, fe80::ff:fe00:1 on net1, by rule");
  table.push_back(entry(6, GidType::kRoceV1, "fd00::5", 5));
  EXPECT_EQ(choice(table, "auto", ip("10.1.0.5")), "GID 6, RoCE v1, fd00::5 on net1, by rule");
}

TEST(ChooseGid, SaysWhyEachEntryWasPassedOver) {
  std::vector<GidEntry> table = {entry(2, GidType::kRoceV2, "10.9.0.7", 5), entry(3, GidType::kRoceV2, "10.1.0.5", 77),
                                 entry(4, GidType::kRoceV1, "10.1.0.5", 5)};
  EXPECT_EQ(choice(table, "v2", ip("10.1.0.5")),
            "no GID can be used (GID 2, RoCE v2, 10.9.0.7 on net1: belongs to another network namespace; "
            "GID 3, RoCE v2, 10.1.0.5: belongs to another network namespace; GID 4, RoCE v1, 10.1.0.5 on "
            "net1: rule requires RoCE v2)");
  EXPECT_EQ(choice({}, "auto", ip("10.1.0.5")), "no GID can be used (the table is empty)");
  EXPECT_EQ(choice(shared_table(), "index=3", ip("10.1.0.5")).find("no GID can be used (GID 0"), 0u);
}

TEST(ChooseGid, PassesOverAnInterfaceThatIsDown) {
  LocalNetwork network = pod_network();
  network.interfaces[1].is_up = false;
  const auto chosen = choose_gid({entry(5, GidType::kRoceV2, "10.1.0.5", 5)}, network, {}, ip("10.1.0.5"));
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message, "no GID can be used (GID 5, RoCE v2, 10.1.0.5 on net1: net1 is down)");
}

// Verbs take the index in 8 bits: 300 would be sent as 44.
TEST(ChooseGid, PassesOverAnIndexThatVerbsCannotName) {
  const std::vector<GidEntry> table = {entry(300, GidType::kRoceV2, "10.1.0.5", 5),
                                       entry(255, GidType::kRoceV1, "10.1.0.5", 5)};
  EXPECT_EQ(choice(table, "auto", ip("10.1.0.5")), "GID 255, RoCE v1, 10.1.0.5 on net1, by rule");
  EXPECT_EQ(choice({table[0]}, "auto", ip("10.1.0.5")),
            "no GID can be used (GID 300, RoCE v2, 10.1.0.5 on net1: verbs cannot name an index above 255)");
}

TEST(ChooseGid, TakesTheFirstOnInfiniBand) {
  GidEntry port{.gid = *Gid::parse("fe80:0000:0000:0000:506b:4b03:00c1:7d2e"),
                .index = 0,
                .port = 1,
                .type = GidType::kInfiniBand,
                .netdev = {}};
  EXPECT_EQ(choice({port}, "auto", ip("10.1.0.5")), "GID 0, IB, fe80:0000:0000:0000:506b:4b03:00c1:7d2e, by rule");
}

TEST(GidRule, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(choice({}, "v3", {}), "--gid-rule: \"v3\" is none of auto, v1, v2, ipv4, ipv6, address=, netdev=, index=");
  for (const std::string wrong : {"-1", "1x", "256", "300"})
    EXPECT_EQ(choice({}, "index=" + wrong, {}),
              fmt::format("--gid-rule: index={} is not a GID index, which is 0 to 255", wrong));
  EXPECT_EQ(choice({}, "address=10.1.0", {}).find("--gid-rule: "), 0u);
  EXPECT_EQ(choice({}, "netdev=", {}).find("--gid-rule: "), 0u);
}

}  // namespace
}  // namespace railbed::rdma
