// SPDX-License-Identifier: Apache-2.0
#include "rdma/port_watch.h"

#include <gtest/gtest.h>

#include "os/record/memory_files.h"
#include "rdma/test_link_statistics.h"

namespace railbed::rdma {
namespace {

using std::chrono::milliseconds;

class PortWatchTest : public testing::Test {
 protected:
  void set(const std::string& device, const std::string& counter, int64_t value) {
    files_.put_file("/sys/class/infiniband/" + device + "/ports/1/" + counter, fmt::format("{}\n", value));
  }
  PortWatch started(const std::vector<std::string>& wanted = {}) {
    auto watch = PortWatch::start(files_, &interfaces_, wanted, now_);
    EXPECT_TRUE(watch) << watch.error().to_string();
    return std::move(*watch);
  }
  std::string why_not(const std::vector<std::string>& wanted) {
    const auto watch = PortWatch::start(files_, &interfaces_, wanted, now_);
    return watch ? "watched" : watch.error().to_string();
  }
  std::vector<PortInterval> after(PortWatch& watch, milliseconds time) { return watch.look(now_ += time); }

  os::MemoryFiles files_;
  TestLinkStatistics interfaces_;
  PortWatch::Time now_{};
};

TEST_F(PortWatchTest, ReportsWhatMovedUnderOneNameForAllDrivers) {
  set("mlx5_0", "counters/port_xmit_data", 1000);
  set("mlx5_0", "counters/port_rcv_data", 5);
  set("mlx5_0", "hw_counters/np_cnp_sent", 7);
  set("mlx5_0", "hw_counters/local_ack_timeout_err", 1);
  set("mlx5_0", "hw_counters/packet_seq_err", 1);
  // A driver may count the same twice, under both names.
  set("rxe0", "hw_counters/sent_pkts", 50);
  set("rxe0", "counters/port_rcv_packets", 3);
  set("rxe0", "hw_counters/rcvd_pkts", 3);
  files_.put_file("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n");
  PortWatch watch = started();
  set("mlx5_0", "counters/port_xmit_data", 1250);
  set("mlx5_0", "hw_counters/local_ack_timeout_err", 3);
  set("mlx5_0", "hw_counters/packet_seq_err", 2);
  set("rxe0", "hw_counters/sent_pkts", 60);
  set("rxe0", "counters/port_rcv_packets", 5);
  set("rxe0", "hw_counters/rcvd_pkts", 5);
  const auto seen = after(watch, milliseconds(500));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].port, (Port{.device = "mlx5_0", .port = 1, .netdev = "eth0"}));
  EXPECT_EQ(seen[0].state, PortState::kThere);
  EXPECT_DOUBLE_EQ(seen[0].interval_s, 0.5);
  EXPECT_EQ(seen[0][PortFigure::kSentBytes], 1000);
  EXPECT_EQ(seen[0][PortFigure::kReceivedBytes], 0);
  EXPECT_EQ(seen[0][PortFigure::kCnpsSent], 0);
  EXPECT_EQ(seen[0][PortFigure::kRetransmits], 3);
  // What a driver does not count is absent, and not 0.
  EXPECT_EQ(seen[0][PortFigure::kSentPackets], std::nullopt);
  EXPECT_EQ(seen[1].port.netdev, "");
  EXPECT_EQ(seen[1][PortFigure::kSentPackets], 10);
  EXPECT_EQ(seen[1][PortFigure::kReceivedPackets], 2);
  EXPECT_EQ(seen[1][PortFigure::kSentBytes], std::nullopt);
  EXPECT_EQ(seen[1][PortFigure::kCnpsSent], std::nullopt);
  EXPECT_EQ(seen[0].counters,
            (PortCounters{{"local_ack_timeout_err", 2}, {"packet_seq_err", 1}, {"port_xmit_data_bytes", 1000}}));
  // Nothing moves: 0 of what is counted.
  EXPECT_EQ(after(watch, milliseconds(500))[0][PortFigure::kSentBytes], 0);
}

// They are the interface's: of one whose driver has none, and of a port without interface, they are absent and not 0.
TEST_F(PortWatchTest, PauseFramesAreReportedOfThoseThatCountThem) {
  for (const char* device : {"mlx5_0", "mlx5_1", "mlx5_2"}) set(device, "counters/port_xmit_data", 1);
  files_.put_file("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n");
  files_.put_file("/sys/class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0", "eth1\n");
  auto& driver = interfaces_.drivers["eth0"];
  driver = {{"rx_prio3_pause", 100}, {"tx_prio3_pause", 1}, {"rx_prio3_pause_duration", 5}, {"rx_packets", 1}};
  interfaces_.drivers["eth1"] = {{"rx_packets", 1}};
  PortWatch watch = started();
  driver["rx_prio3_pause"] = 107;
  driver["rx_prio3_pause_duration"] = 50;
  driver["rx_packets"] = 2;
  auto seen = after(watch, milliseconds(1000));
  EXPECT_EQ(seen[0][PortFigure::kPausesReceived], 7);
  EXPECT_EQ(seen[0][PortFigure::kPausesSent], 0);
  EXPECT_EQ(seen[0].counters, (PortCounters{{"rx_prio3_pause", 7}, {"rx_prio3_pause_duration", 45}}));
  for (const size_t other : {1, 2}) {
    EXPECT_EQ(seen[other][PortFigure::kPausesReceived], std::nullopt);
    EXPECT_EQ(seen[other][PortFigure::kPausesSent], std::nullopt);
  }
  // A driver that was reloaded counts from 0.
  driver["rx_prio3_pause"] = 3;
  seen = after(watch, milliseconds(1000));
  EXPECT_EQ(seen[0][PortFigure::kPausesReceived], std::nullopt);
  EXPECT_EQ(seen[0][PortFigure::kPausesSent], 0);
}

// A counter that went back, came up meanwhile or stands at its end says nothing about this interval.
TEST_F(PortWatchTest, WhatWrapsIsAbsentForOneInterval) {
  set("mlx5_0", "counters/port_xmit_data", 4'000'000'000);
  set("mlx5_0", "counters/port_rcv_data", 4'294'967'290);
  set("mlx5_0", "counters/port_xmit_packets", 4'294'967'295);
  PortWatch watch = started();
  set("mlx5_0", "counters/port_xmit_data", 100);
  set("mlx5_0", "counters/port_rcv_data", 4'294'967'295);
  set("mlx5_0", "hw_counters/np_cnp_sent", 9);
  const auto seen = after(watch, milliseconds(1000));
  EXPECT_EQ(seen[0][PortFigure::kSentBytes], std::nullopt);
  EXPECT_EQ(seen[0][PortFigure::kReceivedBytes], std::nullopt);
  EXPECT_EQ(seen[0][PortFigure::kSentPackets], std::nullopt);
  EXPECT_EQ(seen[0][PortFigure::kCnpsSent], std::nullopt);
  set("mlx5_0", "counters/port_xmit_data", 300);
  set("mlx5_0", "hw_counters/np_cnp_sent", 10);
  const auto next = after(watch, milliseconds(1000));
  EXPECT_EQ(next[0][PortFigure::kSentBytes], 800);
  EXPECT_EQ(next[0][PortFigure::kReceivedBytes], std::nullopt);
  EXPECT_EQ(next[0][PortFigure::kCnpsSent], 1);
}

TEST_F(PortWatchTest, ADeviceThatGoesIsReportedAndWatchedAgain) {
  set("mlx5_0", "counters/port_xmit_data", 1000);
  set("mlx5_1", "counters/port_xmit_data", 1000);
  PortWatch watch = started();
  files_.remove("/sys/class/infiniband/mlx5_0");
  set("mlx5_1", "counters/port_xmit_data", 1001);
  auto seen = after(watch, milliseconds(1000));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].state, PortState::kGone);
  EXPECT_EQ(seen[0][PortFigure::kSentBytes], std::nullopt);
  EXPECT_EQ(seen[1].state, PortState::kThere);
  EXPECT_EQ(seen[1][PortFigure::kSentBytes], 4);
  EXPECT_EQ(after(watch, milliseconds(1000))[0].state, PortState::kGone);
  // Its counters restart, so the first interval has none.
  set("mlx5_0", "counters/port_xmit_data", 5);
  seen = after(watch, milliseconds(1000));
  EXPECT_EQ(seen[0].state, PortState::kCameBack);
  EXPECT_EQ(seen[0][PortFigure::kSentBytes], std::nullopt);
  set("mlx5_0", "counters/port_xmit_data", 6);
  seen = after(watch, milliseconds(1000));
  EXPECT_EQ(seen[0].state, PortState::kThere);
  EXPECT_EQ(seen[0][PortFigure::kSentBytes], 4);
}

TEST_F(PortWatchTest, OnlyWhatWasNamedIsWatched) {
  EXPECT_EQ(why_not({}),
            "this machine has no RDMA device\n  `rdma link` lists them; in a pod they come with the RDMA resource");
  for (const char* device : {"mlx5_0", "mlx5_1", "mlx5_10"}) set(device, "counters/port_xmit_data", 1000);
  files_.put_file("/sys/class/infiniband/mlx5_1/ports/2/counters/port_xmit_data", "1\n");
  const auto names = [&](const std::vector<std::string>& wanted) {
    PortWatch watch = started(wanted);
    std::string out;
    for (const PortInterval& one : after(watch, milliseconds(1))) out += text_of(one.port) + " ";
    return out;
  };
  EXPECT_EQ(names({}), "mlx5_0:1 mlx5_1:1 mlx5_1:2 mlx5_10:1 ");
  EXPECT_EQ(names({"mlx5_1"}), "mlx5_1:1 mlx5_1:2 ");
  EXPECT_EQ(names({"mlx5_1:2", "mlx5_0"}), "mlx5_0:1 mlx5_1:2 ");
  EXPECT_EQ(why_not({"mlx5_0", "mlx5_7"}),
            "no RDMA device or port mlx5_7\n  this machine has mlx5_0:1, mlx5_1:1, mlx5_1:2, mlx5_10:1");
}

}  // namespace
}  // namespace railbed::rdma
