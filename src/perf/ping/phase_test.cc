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
            "  no ARP or ND reply for this address; check that the peer's interface is up and on the same network and "
            "VLAN");
  EXPECT_EQ(opening_failed(PingPhase::kAddress, EHOSTUNREACH, kPeer).to_string(),
            "address: finding the RDMA device and the neighbour for 10.1.0.1 port 7174: EHOSTUNREACH (No route to "
            "host)\n"
            "  no route, or no ARP or ND reply: `ip route get` and `ip neigh` show which; check that the peer's "
            "interface is up and on the same network");
  EXPECT_EQ(opening_timed_out(PingPhase::kRoute, 5000, kPeer).to_string(),
            "route: finding the route to 10.1.0.1 port 7174: no answer within 5000 ms\n"
            "  on InfiniBand check that `sminfo` finds the subnet manager, which answers path queries, and that both "
            "ends are in one partition; on RoCE check that the interface is up");
  EXPECT_EQ(opening_timed_out(PingPhase::kConnect, 5000, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: no answer within 5000 ms\n"
            "  the address was resolved, but no connection manager answers; check on the peer that `rdma_ucm` or "
            "`rdma_cm` is loaded, that the RDMA device is up, and that UDP port 4791 is not blocked (RoCE v2)");
  EXPECT_EQ(opening_failed(PingPhase::kConnect, ECONNRESET, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: ECONNRESET (Connection reset by peer)\n"
            "  the peer's connection manager answered and then dropped the connection; see the peer's log and check "
            "that its RDMA device is up");
}

TEST(PingPhases, ARejectionNamesThePeer) {
  EXPECT_EQ(connection_rejected(8, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: rejected (reason 8)\n"
            "  connection refused: nothing is listening on this port; check that the server is running");
  EXPECT_EQ(connection_rejected(28, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: rejected (reason 28)\n"
            "  the peer's program refused the connection: it serves another client, or speaks another protocol");
  EXPECT_EQ(connection_rejected(1, kPeer).to_string(),
            "connect: connecting to 10.1.0.1 port 7174: rejected (reason 1)\n"
            "  the peer's connection manager has no capacity, or its device is too different from this one; see its "
            "kernel log");
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
