// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/phase.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace railbed::perf {
namespace {

constexpr const char* kPeer = "10.1.0.1 port 7174";

TEST(PingPhases, EachHasASentenceOfItsOwn) {
  EXPECT_EQ(opening_failed(PingPhase::kAddress, ENODEV, kPeer).to_string(),
            "address: finding the RDMA device and the neighbour for 10.1.0.1 port 7174: ENODEV (No such device)\n"
            "  the interface toward the peer has no RDMA device: `rdma link` lists those that have one, and `ip route "
            "get` shows which interface that is");
  EXPECT_EQ(opening_failed(PingPhase::kAddress, ETIMEDOUT, kPeer).to_string(),
            "address: finding the RDMA device and the neighbour for 10.1.0.1 port 7174: ETIMEDOUT (Connection timed "
            "out)\n"
            "  nobody answered for this address (ARP, ND): is the peer's interface up, and on this network or VLAN?");
  EXPECT_EQ(opening_failed(PingPhase::kAddress, EHOSTUNREACH, kPeer).to_string(),
            "address: finding the RDMA device and the neighbour for 10.1.0.1 port 7174: EHOSTUNREACH (No route to "
            "host)\n"
            "  there is no route, or no neighbour answers (ARP, ND): `ip route get` and `ip neigh` show which; is the "
            "peer's interface up, and on this network?");
  EXPECT_EQ(opening_timed_out(PingPhase::kRoute, 5000, kPeer).to_string(),
            "route: finding the route to 10.1.0.1 port 7174: no answer within 5000 ms\n"
            "  on InfiniBand the subnet manager is asked for the path: does `sminfo` find it, and are both ends in one "
            "partition? On RoCE: is the interface up?");
  EXPECT_EQ(opening_timed_out(PingPhase::kConnect, 5000, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: no answer within 5000 ms\n"
            "  the address was found, but no connection manager answers: is `rdma_ucm` or `rdma_cm` loaded there, is "
            "the peer's RDMA device up, and is UDP port 4791 let through (RoCE v2)?");
  EXPECT_EQ(opening_failed(PingPhase::kConnect, ECONNRESET, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: ECONNRESET (Connection reset by peer)\n"
            "  the peer's connection manager answers and then drops it: look at the peer's log, and whether its RDMA "
            "device is up");
}

TEST(PingPhases, ARejectionSaysByWhom) {
  EXPECT_EQ(connection_rejected(8, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: rejected (reason 8)\n"
            "  nobody listens there: is the peer's program running, with this port?");
  EXPECT_EQ(connection_rejected(28, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: rejected (reason 28)\n"
            "  the program there does not want this connection: it serves somebody else, or speaks another protocol");
  EXPECT_EQ(connection_rejected(1, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: rejected (reason 1)\n"
            "  the peer's connection manager has no room for it, or its device differs too much from this one; its "
            "kernel log may say more");
}

TEST(PingPhases, DataPhasesKeepTheCause) {
  const Error cause{
      .code = Code::kTimeout, .message = "an RDMA read on mlx5_0: retries exceeded", .hint = "look there"};
  EXPECT_EQ(data_phase_failed(PingPhase::kRead, cause, kPeer).to_string(),
            "READ: the READ from 10.1.0.1 port 7174: an RDMA read on mlx5_0: retries exceeded\n  look there");
  EXPECT_EQ(data_phase_failed(PingPhase::kWrite, cause, kPeer).story(),
            "WRITE: the WRITE to 10.1.0.1 port 7174: an RDMA read on mlx5_0: retries exceeded");
  EXPECT_EQ(data_phase_failed(PingPhase::kMessage, cause, kPeer).code, Code::kTimeout);
}

}  // namespace
}  // namespace railbed::perf
