// SPDX-License-Identifier: Apache-2.0
// Each verb and each option of a test, measured between two ends of this process with devices in memory.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <unistd.h>

#include "perf/session/test_rdma.h"

namespace railbed::perf {
namespace {

constexpr RdmaVerb kAll[] = {RdmaVerb::kWrite, RdmaVerb::kWriteImm, RdmaVerb::kRead,
                             RdmaVerb::kSend,  RdmaVerb::kFetchAdd, RdmaVerb::kSendUd};

class RdmaVerbsTest : public RdmaTest {
 protected:
  static TestSpec spec_of(RdmaVerb verb, TestKind kind = TestKind::kBandwidth) {
    TestSpec out = spec(kind);
    out.verb = verb;
    out.sizes_bytes = verb == RdmaVerb::kFetchAdd ? std::vector<int64_t>{8} : std::vector<int64_t>{2, 1024};
    return out;
  }
  static std::vector<FakeVerbs::Modified> changes_to(ibv_qp_state state) {
    std::vector<FakeVerbs::Modified> out;
    for (const FakeVerbs::Modified& one : fake().modified)
      if (one.attributes.qp_state == state) out.push_back(one);
    return out;
  }
};

TEST_F(RdmaVerbsTest, EachMeasuresBandwidth) {
  for (const RdmaVerb verb : kAll) {
    SCOPED_TRACE(traits_of(verb).name);
    reset();
    TestSpec wanted = spec_of(verb);
    wanted.qps = 2;
    const auto result = measured(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    ASSERT_EQ(result->bandwidth.size(), wanted.sizes_bytes.size());
    for (const BandwidthPoint& point : result->bandwidth) {
      // Who sends datagrams does not wait for the receiver: some may find no receive.
      EXPECT_EQ(point.messages + point.lost_messages, 100);
      if (!traits_of(verb).is_datagram) {
        EXPECT_EQ(point.lost_messages, 0);
      }
      EXPECT_GT(point.average_gbps, 0);
      EXPECT_EQ(point.used_tx_depth, 8);
    }
  }
}

TEST_F(RdmaVerbsTest, EachMeasuresBothDirectionsForATime) {
  for (const RdmaVerb verb : kAll) {
    SCOPED_TRACE(traits_of(verb).name);
    reset();
    TestSpec wanted = spec_of(verb);
    wanted.bidirectional = true;
    wanted.iterations = 0;
    wanted.duration_ms = 100;
    const auto result = measured(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    for (const BandwidthPoint& point : result->bandwidth) {
      EXPECT_GT(point.messages, 0);  // real time: a busy machine sends few
      ASSERT_TRUE(point.reverse_average_gbps && point.reverse_series);
      EXPECT_GT(*point.reverse_average_gbps, 0);
    }
  }
}

TEST_F(RdmaVerbsTest, EachMeasuresLatency) {
  for (const RdmaVerb verb : kAll) {
    SCOPED_TRACE(traits_of(verb).name);
    reset();
    TestSpec wanted = spec_of(verb, TestKind::kLatency);
    wanted.iterations = 300;
    const auto result = measured(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    for (const LatencyPoint& point : result->latency) {
      EXPECT_EQ(static_cast<int64_t>(point.histogram.count()) + point.lost_messages, 300);
      EXPECT_EQ(point.lost_messages, 0);
      EXPECT_EQ(point.used_inline, traits_of(verb).sends_data && point.size_bytes <= 220);
    }
    EXPECT_EQ(result->has_halves(), verb != RdmaVerb::kRead && verb != RdmaVerb::kFetchAdd);
  }
}

TEST_F(RdmaVerbsTest, EachPostsWhatItIs) {
  const std::pair<RdmaVerb, ibv_wr_opcode> opcodes[] = {{RdmaVerb::kWrite, IBV_WR_RDMA_WRITE},
                                                        {RdmaVerb::kWriteImm, IBV_WR_RDMA_WRITE_WITH_IMM},
                                                        {RdmaVerb::kRead, IBV_WR_RDMA_READ},
                                                        {RdmaVerb::kSend, IBV_WR_SEND},
                                                        {RdmaVerb::kFetchAdd, IBV_WR_ATOMIC_FETCH_AND_ADD},
                                                        {RdmaVerb::kSendUd, IBV_WR_SEND}};
  for (const auto& [verb, opcode] : opcodes) {
    SCOPED_TRACE(traits_of(verb).name);
    reset();
    ASSERT_EQ(why_not(spec_of(verb)), "measured");
    EXPECT_FALSE(fake().posted.empty());
    for (const FakeVerbs::Posted& one : fake().posted) EXPECT_EQ(one.opcode, opcode);
    for (const ibv_qp_init_attr& pair : fake().queue_pairs)
      EXPECT_EQ(pair.qp_type, verb == RdmaVerb::kSendUd ? IBV_QPT_UD : IBV_QPT_RC);
  }
}

// The peer may do to the memory what the verb needs, and nothing else.
TEST_F(RdmaVerbsTest, EachOpensTheMemoryNoFurtherThanItMust) {
  const std::pair<RdmaVerb, unsigned> rights[] = {
      {RdmaVerb::kWrite, IBV_ACCESS_REMOTE_WRITE},     {RdmaVerb::kWriteImm, IBV_ACCESS_REMOTE_WRITE},
      {RdmaVerb::kRead, IBV_ACCESS_REMOTE_READ},       {RdmaVerb::kSend, 0},
      {RdmaVerb::kFetchAdd, IBV_ACCESS_REMOTE_ATOMIC}, {RdmaVerb::kSendUd, 0}};
  for (const auto& [verb, right] : rights) {
    SCOPED_TRACE(traits_of(verb).name);
    reset();
    ASSERT_EQ(why_not(spec_of(verb)), "measured");
    ASSERT_EQ(fake().registered.size(), 2u);
    for (const FakeVerbs::Registered& one : fake().registered)
      EXPECT_EQ(one.access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING | right);
    if (verb == RdmaVerb::kSendUd) continue;
    for (const FakeVerbs::Modified& one : changes_to(IBV_QPS_INIT)) EXPECT_EQ(one.attributes.qp_access_flags, right);
  }
}

// A read takes from where the peer sends, and leaves alone where it receives.
TEST_F(RdmaVerbsTest, ReadsAndWritesHaveAreasOfTheirOwn) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (const auto& [verb, area] : {std::pair(RdmaVerb::kRead, 0 * page), std::pair(RdmaVerb::kWrite, page)}) {
    reset();
    ASSERT_EQ(why_not(spec_of(verb)), "measured");
    for (const FakeVerbs::Posted& one : fake().posted) EXPECT_EQ(one.offset / page * page, area);
  }
}

// As many as the requester may have under way and the responder answers.
TEST_F(RdmaVerbsTest, ReadsAreLimitedByBothEnds) {
  const auto result = measured(spec_of(RdmaVerb::kRead));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->client.read_depth, 8);
  for (const FakeVerbs::Modified& one : changes_to(IBV_QPS_RTR)) EXPECT_EQ(one.attributes.max_dest_rd_atomic, 8);
  for (const FakeVerbs::Modified& one : changes_to(IBV_QPS_RTS)) EXPECT_EQ(one.attributes.max_rd_atomic, 8);
  reset();
  change([](FakeVerbs& verbs) { verbs.devices[0].reads_sent = 2; });
  ASSERT_EQ(why_not(spec_of(RdmaVerb::kFetchAdd)), "measured");
  for (const FakeVerbs::Modified& one : changes_to(IBV_QPS_RTS)) EXPECT_EQ(one.attributes.max_rd_atomic, 2);
  reset();
  change([](FakeVerbs& verbs) { verbs.devices[0].has_atomics = false; });
  EXPECT_EQ(why_not(spec_of(RdmaVerb::kFetchAdd)),
            "perf bw with 127.0.0.1: rxe_lo has no atomic operations; measure another --verb");
}

TEST_F(RdmaVerbsTest, DatagramsThatAreLostAreCountedAndInNoFigure) {
  change([](FakeVerbs& verbs) { verbs.lost_datagrams_every = 4; });
  TestSpec wanted = spec_of(RdmaVerb::kSendUd);
  wanted.sizes_bytes = {64};
  wanted.iterations = 40;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_GE(result->bandwidth[0].lost_messages, 10);
  EXPECT_EQ(result->bandwidth[0].messages + result->bandwidth[0].lost_messages, 40);
  // All of them: nothing came, and that is reported.
  reset();
  change([](FakeVerbs& verbs) { verbs.lost_datagrams_every = 1; });
  const auto none = measured(wanted);
  ASSERT_TRUE(none) << none.error().to_string();
  EXPECT_EQ(none->bandwidth[0].messages, 0);
  EXPECT_EQ(none->bandwidth[0].lost_messages, 40);
  EXPECT_EQ(none->bandwidth[0].average_gbps, 0);
}

TEST_F(RdmaVerbsTest, PingsThatAreLostAreCounted) {
  stall_ = milliseconds(2000);
  change([](FakeVerbs& verbs) { verbs.lost_datagrams_every = 9; });
  TestSpec wanted = spec_of(RdmaVerb::kSendUd, TestKind::kLatency);
  wanted.sizes_bytes = {64};
  wanted.iterations = 20;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_GT(result->latency[0].lost_messages, 0);
  EXPECT_EQ(static_cast<int64_t>(result->latency[0].histogram.count()) + result->latency[0].lost_messages, 20);
}

// A datagram is accepted from any peer that knows the key, which is random for each test.
TEST_F(RdmaVerbsTest, DatagramsCarryAKey) {
  ASSERT_EQ(why_not(spec_of(RdmaVerb::kSendUd)), "measured");
  std::set<uint32_t> keys;
  for (const FakeVerbs::Modified& one : changes_to(IBV_QPS_INIT)) {
    EXPECT_EQ(one.mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    EXPECT_LE(one.attributes.qkey, 0x7fffffffu);
    keys.insert(one.attributes.qkey);
  }
  EXPECT_EQ(keys.size(), 2u);
  ASSERT_EQ(fake().ways.size(), 2u);
  for (const ibv_ah_attr& way : fake().ways) {
    EXPECT_EQ(way.grh.sgid_index, 3);
    EXPECT_EQ(way.is_global, 1);
  }
}

TEST_F(RdmaVerbsTest, ADatagramIsOnePacket) {
  TestSpec wanted = spec_of(RdmaVerb::kSendUd);
  wanted.sizes_bytes = {2048};
  EXPECT_EQ(why_not(wanted),
            "perf bw with 127.0.0.1: size: a UD send is one packet, and rxe_lo port 1 carries 1 KiB in one, not 2 KiB");
}

TEST_F(RdmaVerbsTest, ReceivesArePostedBeforeThePeerKnowsTheQueuePair) {
  for (const RdmaVerb verb : {RdmaVerb::kSend, RdmaVerb::kWrite}) {
    reset();
    ASSERT_EQ(why_not(spec_of(verb)), "measured");
    EXPECT_EQ(fake().queue_pairs[0].cap.max_recv_wr, verb == RdmaVerb::kSend ? 64u : 1u);
    EXPECT_EQ(fake().completion_queues,
              verb == RdmaVerb::kSend ? (std::vector<int>{9, 64, 9, 64}) : (std::vector<int>{9, 9}));
  }
  reset();
  change([](FakeVerbs& verbs) { verbs.faults["post_recv"] = {ENOMEM, 0}; });
  EXPECT_EQ(why_not(spec_of(RdmaVerb::kSend)),
            "perf bw with 127.0.0.1: posting 16 receives on rxe_lo: ENOMEM (Cannot allocate memory)");
}

TEST_F(RdmaVerbsTest, PostListsAreAsLongAsAsked) {
  TestSpec wanted = spec_of(RdmaVerb::kWrite);
  wanted.sizes_bytes = {2};
  for (const int64_t list : {1, 3, 8}) {
    reset();
    wanted.post_list = list;
    wanted.iterations = 24;
    const auto result = measured(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->bandwidth[0].used_post_batch, list);
    // And one to warm up.
    EXPECT_EQ(std::ranges::count_if(fake().posted, &FakeVerbs::Posted::first), 1 + 24 / list);
  }
}

TEST_F(RdmaVerbsTest, ThePathIsMarkedAsAsked) {
  for (const RdmaVerb verb : {RdmaVerb::kWrite, RdmaVerb::kSendUd}) {
    reset();
    TestSpec wanted = spec_of(verb);
    wanted.traffic_class = 106;
    wanted.service_level = 3;
    wanted.flow_label = 0xabcde;
    ASSERT_EQ(why_not(wanted), "measured");
    std::vector<ibv_ah_attr> ways = fake().ways;
    if (verb == RdmaVerb::kWrite)
      for (const FakeVerbs::Modified& one : changes_to(IBV_QPS_RTR)) ways.push_back(one.attributes.ah_attr);
    ASSERT_EQ(ways.size(), 2u);
    for (const ibv_ah_attr& way : ways) {
      EXPECT_EQ(way.grh.traffic_class, 106);
      EXPECT_EQ(way.sl, 3);
      EXPECT_EQ(way.grh.flow_label, 0xabcdeu);
    }
  }
}

TEST_F(RdmaVerbsTest, WithinASubnetOfInfiniBandThereIsNoGrhToMark) {
  FakeDevice device{.name = "mlx5_0", .gids = {gid_entry("fe80::1:2", 0, rdma::GidType::kInfiniBand, 0)}};
  device.ports = {FakePort{.is_infiniband = true, .lid = 7, .mtu = IBV_MTU_4096}};
  device.pkeys = {0xffff, 0x8001, 0};
  change([&](FakeVerbs& verbs) { verbs.devices = {device}; });
  TestSpec wanted = spec_of(RdmaVerb::kWrite);
  wanted.remote_device = "mlx5_0";
  wanted.traffic_class = 106;
  EXPECT_EQ(
      why_not(wanted, "mlx5_0"),
      "perf bw with 127.0.0.1: traffic-class: within a subnet of InfiniBand packets go by LID and have no GRH, which "
      "would carry it\n  choose the virtual lane with --service-level");
  wanted.traffic_class = 0;
  wanted.flow_label = 1;
  EXPECT_TRUE(why_not(wanted, "mlx5_0").starts_with("perf bw with 127.0.0.1: flow-label: within a subnet"));
  wanted.flow_label = 0;
  wanted.pkey_index = 1;
  fake().modified.clear();
  const auto result = measured(wanted, "mlx5_0");
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->client.pkey, "0x8001");
  for (const FakeVerbs::Modified& one : changes_to(IBV_QPS_INIT)) EXPECT_EQ(one.attributes.pkey_index, 1);
  wanted.pkey_index = 2;
  EXPECT_EQ(why_not(wanted, "mlx5_0"),
            "perf bw with 127.0.0.1: pkey-index: mlx5_0 port 1 has no partition key with index 2\n"
            "  /sys/class/infiniband/mlx5_0/ports/1/pkeys lists the keys; on Ethernet there is only index 0");
}

TEST_F(RdmaVerbsTest, PartitionKeysOfBothEndsMustFit) {
  FakeDevice other = on_loopback("rxe_other");
  const auto with = [&](uint16_t here, uint16_t there) {
    reset();
    change([&](FakeVerbs& verbs) {
      verbs.devices[0].pkeys = {here};
      other.pkeys = {there};
      verbs.devices.push_back(other);
    });
    TestSpec wanted = spec_of(RdmaVerb::kWrite);
    wanted.remote_device = "rxe_other";
    return why_not(wanted, "rxe_lo");
  };
  const std::string hint =
      "\n  both must have the same lower 15 bits, and one of them the highest bit (full membership)";
  EXPECT_EQ(with(0x8001, 0x0001), "measured");
  EXPECT_EQ(with(0x8001, 0x8002),
            "perf bw with 127.0.0.1: pkey-index: the partition keys of the two ends do not match: 0x8001 here, 0x8002 "
            "there" +
                hint);
  EXPECT_EQ(with(0x0001, 0x0001),
            "perf bw with 127.0.0.1: pkey-index: the partition keys of the two ends do not match: 0x0001 here, 0x0001 "
            "there" +
                hint);
}

// On for bandwidth, off for latency, and as asked.
TEST_F(RdmaVerbsTest, RelaxedOrderingIsWhatItShouldBe) {
  const auto relaxed = [&](TestKind kind, Choice choice, RdmaVerb verb) {
    reset();
    TestSpec wanted = spec_of(verb, kind);
    wanted.relaxed_ordering = choice;
    const auto result = measured(wanted);
    EXPECT_TRUE(result) << result.error().to_string();
    const bool asked = (fake().registered.at(0).access & IBV_ACCESS_RELAXED_ORDERING) != 0;
    EXPECT_EQ(result->client.relaxed_ordering, asked);
    EXPECT_EQ(result->server.relaxed_ordering, asked);
    return asked;
  };
  EXPECT_TRUE(relaxed(TestKind::kBandwidth, Choice::kAuto, RdmaVerb::kWrite));
  EXPECT_FALSE(relaxed(TestKind::kBandwidth, Choice::kOff, RdmaVerb::kWrite));
  EXPECT_FALSE(relaxed(TestKind::kLatency, Choice::kAuto, RdmaVerb::kWrite));
  EXPECT_TRUE(relaxed(TestKind::kLatency, Choice::kOn, RdmaVerb::kSend));
}

// Soft devices need the processor; a NIC does not, unless somebody says so.
TEST_F(RdmaVerbsTest, YieldingIsForSoftDevicesAndASwitch) {
  const auto yields = [&](const std::string& name, Choice choice) {
    reset();
    change([&](FakeVerbs& verbs) { verbs.devices = {on_loopback(name)}; });
    TestSpec wanted = spec_of(RdmaVerb::kWrite);
    wanted.yield = choice;
    const auto result = measured(wanted);
    EXPECT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->client.yields, result->server.yields);
    return result->client.yields;
  };
  EXPECT_TRUE(yields("rxe_lo", Choice::kAuto));
  EXPECT_FALSE(yields("mlx5_0", Choice::kAuto));
  EXPECT_TRUE(yields("mlx5_0", Choice::kOn));
  EXPECT_FALSE(yields("rxe_lo", Choice::kOff));
}

// The device is in no sysfs, so that its node is unknown.
TEST_F(RdmaVerbsTest, APinNeedsANode) {
  TestSpec wanted = spec_of(RdmaVerb::kWrite);
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->client.numa_node, -1);
  EXPECT_EQ(result->client.cpus, "");
  wanted.pin = Choice::kOn;
  EXPECT_EQ(why_not(wanted),
            "perf bw with 127.0.0.1: pin: the NUMA node of rxe_lo is unknown, so the thread cannot be pinned to it");
}

// Huge pages and GPUs may belong to a job: a server says which of them its clients may take.
TEST_F(RdmaVerbsTest, AServerOffersNoMemoryOfAJobUnasked) {
  TestSpec wanted = spec_of(RdmaVerb::kSend);
  wanted.remote_memory = {.kind = MemoryKind::kHugePages};
  EXPECT_EQ(
      why_not(wanted),
      "perf bw with 127.0.0.1: at the server: the peer says: remote-memory: this server does not offer huge pages to "
      "its clients\n  start it with `railbed perf serve --offer huge`");
  wanted.remote_memory = {.kind = MemoryKind::kGpu};
  EXPECT_EQ(
      why_not(wanted),
      "perf bw with 127.0.0.1: at the server: the peer says: remote-memory: this server does not offer the memory of "
      "GPUs to its clients\n  start it with `railbed perf serve --offer gpu`");
}

}  // namespace
}  // namespace railbed::perf
