// SPDX-License-Identifier: Apache-2.0
#include "perf/perftest/dialect.h"

#include <gtest/gtest.h>

namespace railbed::perf::perftest {
namespace {

TestSpec bw(RdmaVerb verb = RdmaVerb::kWrite, int64_t size = 65536) {
  return {.kind = TestKind::kBandwidth, .sizes_bytes = {size}, .verb = verb};
}
TestSpec lat(RdmaVerb verb = RdmaVerb::kWrite, int64_t size = 2) {
  return {.kind = TestKind::kLatency, .sizes_bytes = {size}, .verb = verb};
}
std::string peers_line(const TestSpec& spec, Role role = Role::kClient, uint16_t port = kPort) {
  const auto known = as_perftest(spec, role, false);
  return known ? command_line(*known, port, role == Role::kServer ? "n1" : "") : known.error().to_string();
}

TEST(PerftestDialect, SaysWhatTheServerMustBe) {
  EXPECT_EQ(peers_line(bw()), "ib_write_bw -s 65536 -F");
  EXPECT_EQ(peers_line(bw(RdmaVerb::kRead)), "ib_read_bw -s 65536 -F");
  EXPECT_EQ(peers_line(bw(RdmaVerb::kSend)), "ib_send_bw -s 65536 -n 1000 -F");
  EXPECT_EQ(peers_line(bw(RdmaVerb::kFetchAdd, 8)), "ib_atomic_bw -F");
  EXPECT_EQ(peers_line(lat()), "ib_write_lat -s 2 -n 1000 -F");
  EXPECT_EQ(peers_line(lat(RdmaVerb::kRead)), "ib_read_lat -s 2 -F");
  EXPECT_EQ(peers_line(lat(RdmaVerb::kSend)), "ib_send_lat -s 2 -n 1000 -F");
  EXPECT_EQ(peers_line(lat(RdmaVerb::kFetchAdd, 8)), "ib_atomic_lat -F");
  TestSpec spec = bw();
  spec.qps = 4;
  spec.bidirectional = true;
  EXPECT_EQ(peers_line(spec, Role::kClient, 19000), "ib_write_bw -s 65536 -n 5000 -q 4 -b -p 19000 -F");
  spec.iterations = 77;
  EXPECT_EQ(peers_line(spec), "ib_write_bw -s 65536 -n 77 -q 4 -b -F");
}

TEST(PerftestDialect, SaysWhatTheClientMustBe) {
  EXPECT_EQ(peers_line(bw(), Role::kServer), "ib_write_bw -s 65536 -F n1");
  EXPECT_EQ(peers_line(lat(RdmaVerb::kSend), Role::kServer, 1), "ib_send_lat -s 2 -n 1000 -p 1 -F n1");
}

// Of a sweep by one end alone, the other only needs memory for the largest size.
TEST(PerftestDialect, Sweeps) {
  TestSpec spec = bw();
  spec.sizes_bytes = sweep_sizes(1 << 20);
  EXPECT_EQ(peers_line(spec), "ib_write_bw -s 1048576 -F");
  EXPECT_EQ(peers_line(spec, Role::kServer),
            "max-size: both ends go through the same sizes, and perftest's -a ends at 8 MiB");
  spec.sizes_bytes = sweep_sizes(8 << 20);
  EXPECT_EQ(peers_line(spec, Role::kServer), "ib_write_bw -a -F n1");
  spec.verb = RdmaVerb::kSend;
  EXPECT_EQ(peers_line(spec), "ib_send_bw -a -n 1000 -F");
  spec.sizes_bytes = sweep_sizes(4 << 20);
  EXPECT_EQ(peers_line(spec), "max-size: both ends go through the same sizes, and perftest's -a ends at 8 MiB");
}

TEST(PerftestDialect, RefusesWhatPerftestIsNot) {
  const auto with = [](TestSpec spec, auto change) {
    change(spec);
    return peers_line(spec);
  };
  EXPECT_EQ(with(bw(), [](TestSpec& s) { s.transport = Transport::kTcp; }), "tcp: perftest measures RDMA only");
  const std::string verbs = "\n  with perftest there are write, read, send and fetch-add";
  EXPECT_EQ(peers_line(bw(RdmaVerb::kSendUd, 1024)), "verb: send-ud is not measured with perftest" + verbs);
  EXPECT_EQ(peers_line(bw(RdmaVerb::kWriteImm)), "verb: write-imm is not measured with perftest" + verbs);
  EXPECT_EQ(with(bw(), [](TestSpec& s) { s.remote_device = "mlx5_1"; }),
            "remote-device: not supported with perftest; start it with -d mlx5_1");
  EXPECT_EQ(with(bw(), [](TestSpec& s) { s.remote_memory.kind = MemoryKind::kHugePages; }),
            "remote-memory: not supported with perftest; use perftest's own options");
  EXPECT_EQ(with(lat(), [](TestSpec& s) { s.iterations = 4; }),
            "iterations: 4 messages, but perftest requires at least 5");
  TestSpec paced = lat();
  paced.rate_per_s = 10;
  EXPECT_EQ(peers_line(paced), "ib_write_lat -s 2 -n 1000 -F");
  EXPECT_EQ(peers_line(paced, Role::kServer), "rate: perftest's client decides when it sends");
  EXPECT_EQ(with(bw(), [](TestSpec& s) { s.qps = 1000; }), "qps: 1000 is outside 1..256");
}

// A duration only where one end alone measures.
TEST(PerftestDialect, CountsWhereBothEndsDo) {
  const std::string hint = "\n  give a number of messages (-n), the same on both sides";
  for (const auto& [spec, program] :
       {std::pair{lat(), "ib_write_lat"}, {lat(RdmaVerb::kSend), "ib_send_lat"}, {bw(RdmaVerb::kSend), "ib_send_bw"}}) {
    const auto refused = as_perftest(spec, Role::kClient, true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().to_string(),
              fmt::format("duration: both ends of {} count messages, and neither signals the other when it stops{}",
                          program, hint));
  }
  for (const TestSpec& spec : {bw(), bw(RdmaVerb::kRead), bw(RdmaVerb::kFetchAdd, 8), lat(RdmaVerb::kRead)}) {
    const auto taken = as_perftest(spec, Role::kClient, true);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->iterations, 0);
  }
}

}  // namespace
}  // namespace railbed::perf::perftest
