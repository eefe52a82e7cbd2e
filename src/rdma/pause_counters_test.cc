// SPDX-License-Identifier: Apache-2.0
#include "rdma/pause_counters.h"

#include <gtest/gtest.h>

#include "rdma/test_link_statistics.h"

namespace railbed::rdma {
namespace {

std::optional<int64_t> sent(const PortCounters& moved) {
  if (!counts_pauses(moved)) return std::nullopt;
  return pause_frames(moved, PauseDirection::kSent);
}
std::optional<int64_t> received(const PortCounters& moved) {
  if (!counts_pauses(moved)) return std::nullopt;
  return pause_frames(moved, PauseDirection::kReceived);
}

TEST(PauseFrames, AreFoundUnderTheNamesOfAllDrivers) {
  struct Driver {
    const char* name;
    PortCounters counters;
  };
  // Five received and two sent in each, of priorities 3 and 4 where there are any.
  const Driver drivers[] = {
      {"mlx5, PFC", {{"rx_prio3_pause", 4}, {"rx_prio4_pause", 1}, {"tx_prio3_pause", 2}, {"rx_prio3_packets", 99}}},
      {"mlx5, whole link", {{"rx_pause_ctrl_phy", 5}, {"tx_pause_ctrl_phy", 2}, {"rx_global_pause_duration", 999}}},
      {"mlx5, both", {{"rx_pause_ctrl_phy", 5}, {"rx_global_pause", 5}, {"rx_prio3_pause", 5}, {"tx_prio0_pause", 2}}},
      {"mlx4", {{"rx_pause", 5}, {"tx_pause_prio_3", 2}, {"rx_pause_duration_prio_3", 77}}},
      {"bnxt_en", {{"rx_pfc_frames", 5}, {"rx_pfc_ena_frames_pri3", 5}, {"tx_pfc_ena_frames_pri7", 2}}},
      {"ice", {{"rx_priority_3_xon.nic", 2}, {"rx_priority_3_xoff.nic", 3}, {"link_xoff_tx.nic", 2}}},
      {"i40e", {{"port.link_xon_rx", 1}, {"port.link_xoff_rx", 4}, {"port.tx_priority_4_xoff_tx", 2}}},
      {"igb", {{"rx_flow_control_xon", 2}, {"rx_flow_control_xoff", 3}, {"tx_flow_control_xoff", 2}}},
      {"ixgbe", {{"rx_pb_3_pxoff", 5}, {"tx_pb_0_pxon", 1}, {"tx_pb_0_pxoff", 1}}},
      {"cxgb4", {{"rx_ppp3_frames", 5}, {"tx_pause_frames", 2}}},
      {"hns3", {{"mac_rx_pfc_pri3_pkt_num", 5}, {"mac_tx_mac_pause_num", 2}}},
  };
  for (const Driver& driver : drivers) {
    EXPECT_EQ(received(driver.counters), 5) << driver.name;
    EXPECT_EQ(sent(driver.counters), 2) << driver.name;
  }
}

// Names that look alike are something else.
TEST(PauseFrames, AreNotMadeOfOtherCounters) {
  for (const char* name :
       {"rx_prio3_pause_duration", "rx_prio3_pause_transition", "rx_prio8_pause", "rx_prio_pause", "rx_prio33_pause",
        "tx_pause_storm_warning_events", "x_pause", "rx_pause_", "rx_packets", ""})
    EXPECT_FALSE(counts_pauses({{name, 1}})) << name;
  EXPECT_FALSE(counts_pauses({}));
  EXPECT_TRUE(is_about_pauses("rx_prio3_pause_duration"));
  EXPECT_FALSE(is_about_pauses("rx_packets"));
}

TEST(PauseFrames, AreUnknownWhereACounterWentBackOrCameUp) {
  const auto between = [](const PortCounters& before, const PortCounters& after) {
    return pause_frames(before, after, PauseDirection::kReceived);
  };
  const PortCounters before = {{"rx_prio3_pause", 10}, {"rx_prio4_pause", 10}, {"tx_prio3_pause", 10}};
  EXPECT_EQ(between(before, {{"rx_prio3_pause", 12}, {"rx_prio4_pause", 10}, {"tx_prio3_pause", 0}}), 2);
  EXPECT_EQ(between(before, before), 0);
  EXPECT_EQ(between(before, {{"rx_prio3_pause", 12}, {"rx_prio4_pause", 9}}), std::nullopt);
  EXPECT_EQ(between(before, {{"rx_prio3_pause", 12}, {"rx_prio5_pause", 1}}), std::nullopt);
  EXPECT_EQ(between(before, {{"tx_prio3_pause", 12}}), std::nullopt);
  EXPECT_EQ(between({}, {}), std::nullopt);
}

TEST(PauseCounters, AreThoseOfTheInterfaceAlone) {
  TestLinkStatistics interfaces;
  interfaces.drivers["eth0"] = {{"rx_packets", 1}, {"rx_prio3_pause", 7}, {"rx_prio3_pause_duration", 9}};
  EXPECT_EQ(read_pause_counters(&interfaces, "eth0"),
            (PortCounters{{"rx_prio3_pause", 7}, {"rx_prio3_pause_duration", 9}}));
  EXPECT_EQ(read_pause_counters(&interfaces, "eth1"), PortCounters{});
  EXPECT_EQ(read_pause_counters(&interfaces, ""), PortCounters{});
  EXPECT_EQ(read_pause_counters(nullptr, "eth0"), PortCounters{});
  // However many a driver has, a result stays readable, and keeps what figures are made of.
  for (int i = 0; i < 1000; ++i) interfaces.drivers["eth0"][fmt::format("a_pause_{}", i)] = 1;
  interfaces.drivers["eth0"]["tx_prio0_pause"] = UINT64_MAX;
  const PortCounters many = read_pause_counters(&interfaces, "eth0");
  EXPECT_EQ(many.size(), 128u);
  EXPECT_EQ(many.at("rx_prio3_pause"), 7);
  EXPECT_FALSE(many.contains("tx_prio0_pause")) << "more than a counter can have";
}

}  // namespace
}  // namespace railbed::rdma
