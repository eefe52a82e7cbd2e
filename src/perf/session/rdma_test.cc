// SPDX-License-Identifier: Apache-2.0
// Whole measurements over RDMA, client and server in this process, with devices in memory (fake_verbs.h).
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "perf/session/test_rdma.h"

namespace railbed::perf {
namespace {

TEST_F(RdmaTest, CountsEveryWriteOfABandwidthTest) {
  TestSpec wanted = spec(TestKind::kBandwidth);
  wanted.qps = 2;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  ASSERT_EQ(result->bandwidth.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const BandwidthPoint& point = result->bandwidth[i];
    EXPECT_EQ(point.size_bytes, wanted.sizes_bytes[i]);
    EXPECT_EQ(point.messages, 100);
    EXPECT_GT(point.duration_s, 0);
    EXPECT_DOUBLE_EQ(point.message_rate_per_s, 100 / point.duration_s);
    EXPECT_DOUBLE_EQ(point.average_gbps, 8e-9 * static_cast<double>(point.size_bytes) * 100 / point.duration_s);
    EXPECT_FALSE(point.reverse_average_gbps);
  }
  EXPECT_EQ(result->label, "rail0");
  EXPECT_EQ(result->command, "test");
  EXPECT_EQ(result->peer, "127.0.0.1");
  EXPECT_EQ(progress_, (std::vector<std::string>{"bw over rdma: 2 B done (1/2)", "bw over rdma: 4 KiB done (2/2)"}));
  const Endpoint end{.hostname = kernel_->host_name(),
                     .address = "127.0.0.1",
                     .netdev = "lo",
                     .device = "rxe_lo",
                     .port = 1,
                     .gid = IpAddress::parse("127.0.0.1")->to_gid().to_string(),
                     .gid_index = 3,
                     .gid_reason = "GID 3, RoCE v2, 127.0.0.1 on lo, by rule",
                     .link_layer = "Ethernet",
                     .path_mtu_bytes = 1024,
                     .soft = true,
                     .memory = "host",
                     .pkey = "0xffff",
                     .relaxed_ordering = true,
                     .yields = true,
                     .threads = 1,
                     .post = "ibv_post_send"};
  EXPECT_EQ(result->client, end);
  EXPECT_EQ(result->server, end);
}

// In batches of a quarter of the depth, of which the last is signalled; small writes walk through a page by cache
// lines; a queue pair has its own two areas.
TEST_F(RdmaTest, PostsInBatches) {
  TestSpec wanted = spec(TestKind::kBandwidth);
  wanted.sizes_bytes = {65};
  wanted.iterations = 3;
  wanted.qps = 2;
  ASSERT_EQ(why_not(wanted), "measured");
  using Write = std::tuple<uint64_t, bool, bool>;  // offset, signalled, first of its chain
  std::vector<std::vector<Write>> by_pair;
  std::vector<uint32_t> pairs;
  for (const FakeVerbs::Posted& one : fake().posted) {
    const auto found = std::ranges::find(pairs, one.qp);
    if (found == pairs.end()) {
      pairs.push_back(one.qp);
      by_pair.push_back({Write(one.offset, (one.flags & IBV_SEND_SIGNALED) != 0, one.first)});
    } else {
      by_pair[static_cast<size_t>(found - pairs.begin())].push_back(
          Write(one.offset, (one.flags & IBV_SEND_SIGNALED) != 0, one.first));
    }
    EXPECT_EQ(one.bytes, 65u);
    EXPECT_EQ(one.flags & IBV_SEND_INLINE, 0u);
  }
  ASSERT_EQ(by_pair.size(), 2u);
  const auto area = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // Each pair: its warm-up, then three messages in chains of two, of which the last is what is left over.
  const auto of_pair = [](uint64_t at) {
    return std::vector<Write>{{at, true, true}, {at, false, true}, {at + 128, true, false}, {at + 128, true, true}};
  };
  EXPECT_EQ(by_pair[0], of_pair(area));
  EXPECT_EQ(by_pair[1], of_pair(3 * area));
  EXPECT_EQ(fake().completion_queues, (std::vector<int>{18, 18}));
  ASSERT_EQ(fake().queue_pairs.size(), 4u);
  const ibv_qp_cap& cap = fake().queue_pairs[0].cap;
  EXPECT_EQ((std::vector<uint32_t>{cap.max_send_wr, cap.max_recv_wr, cap.max_send_sge, cap.max_recv_sge,
                                   cap.max_inline_data}),
            (std::vector<uint32_t>{9, 1, 1, 1, 0}));
  EXPECT_EQ(fake().queue_pairs[0].qp_type, IBV_QPT_RC);
}

// At most 16 MiB are under way, whatever was asked for, and the result says so.
TEST_F(RdmaTest, TheResultSaysHowManyWritesWereUnderWay) {
  TestSpec wanted = spec(TestKind::kBandwidth);
  wanted.sizes_bytes = {64, 1 << 20};
  wanted.tx_depth = 128;
  wanted.iterations = 40;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->spec.tx_depth, 128);
  EXPECT_EQ(result->bandwidth[0].used_tx_depth, 128);
  EXPECT_EQ(result->bandwidth[0].used_post_batch, 32);
  EXPECT_EQ(result->bandwidth[1].used_tx_depth, 16);
  EXPECT_EQ(result->bandwidth[1].used_post_batch, 1);
}

// Each reading gives the processor away where the device is software, so there are few of them.
TEST_F(SimulatedRdmaTest, PingsAreSentByASchedule) {
  SimulatedClock large_steps(milliseconds(1));
  clock_ = &large_steps;
  TestSpec wanted = spec(TestKind::kLatency);
  wanted.iterations = 0;
  wanted.duration_ms = 200;
  wanted.rate_per_s = 100;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  for (const LatencyPoint& point : result->latency) {
    EXPECT_EQ(point.histogram.count(), 20u);
    EXPECT_GE(point.duration_s, 0.19);
    EXPECT_LT(point.duration_s, 1);
  }
}

TEST_F(RdmaTest, ARoundEndsWithLessThanABatch) {
  TestSpec wanted = spec(TestKind::kBandwidth);
  wanted.sizes_bytes = {64};
  wanted.iterations = 5;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->bandwidth[0].messages, 5);
  std::vector<bool> chains;
  for (const FakeVerbs::Posted& one : fake().posted) chains.push_back(one.first);
  EXPECT_EQ(chains, (std::vector<bool>{true, true, false, true, false, true}));
}

TEST_F(SimulatedRdmaTest, MeasuresForATimeInBothDirections) {
  TestSpec wanted = spec(TestKind::kBandwidth);
  wanted.iterations = 0;
  wanted.duration_ms = 60;
  wanted.bidirectional = true;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  for (const BandwidthPoint& point : result->bandwidth) {
    EXPECT_GT(point.messages, 100);
    expect_duration(point.duration_s, wanted.duration_ms);
    EXPECT_FALSE(point.series.gbps.empty());
    ASSERT_TRUE(point.reverse_average_gbps && point.reverse_series);
    EXPECT_GT(*point.reverse_average_gbps, 0);
    EXPECT_FALSE(point.reverse_series->gbps.empty());
  }
}

TEST_F(SimulatedRdmaTest, CountsEveryPing) {
  TestSpec wanted = spec(TestKind::kLatency);
  wanted.iterations = 300;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  ASSERT_EQ(result->latency.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const LatencyPoint& point = result->latency[i];
    EXPECT_EQ(point.size_bytes, wanted.sizes_bytes[i]);
    EXPECT_EQ(point.histogram.count(), 300u);
    EXPECT_GT(point.duration_s, 0);
    EXPECT_LE(point.histogram.mean_ns() * 300, point.duration_s * 1e9 + 300);
    EXPECT_GT(point.histogram.min_ns(), 0u);
  }
  // Four to warm up, then one for each; every 64th and the last are signalled, on both sides, for both sizes.
  EXPECT_EQ(fake().posted.size(), 2u * 2u * 304u);
  EXPECT_EQ(std::ranges::count_if(fake().posted, [](const auto& one) { return (one.flags & IBV_SEND_SIGNALED) != 0; }),
            2 * 2 * 5);
  EXPECT_EQ(std::ranges::count_if(fake().posted, [](const auto& one) { return (one.flags & IBV_SEND_INLINE) != 0; }),
            2 * 304);
}

TEST_F(SimulatedRdmaTest, PingsForATime) {
  SimulatedClock large_steps(milliseconds(1));
  clock_ = &large_steps;
  TestSpec wanted = spec(TestKind::kLatency);
  wanted.iterations = 0;
  wanted.duration_ms = 60;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_GE(result->latency[0].duration_s, 0.06);
  EXPECT_LT(result->latency[0].duration_s, 1);
  EXPECT_FALSE(result->latency[0].slots.empty());
}

// Devices are asked for less and less until they accept, unless the user has said how much.
TEST_F(RdmaTest, AsksForAsMuchInlineAsTheDeviceTakes) {
  struct Case {
    TestKind kind;
    int64_t asked;
    uint32_t most, got;
  };
  for (const Case& c : {Case{TestKind::kLatency, -1, 1000, 220}, Case{TestKind::kLatency, -1, 60, 55},
                        Case{TestKind::kLatency, -1, 0, 0}, Case{TestKind::kLatency, 100, 1000, 100},
                        Case{TestKind::kLatency, 0, 1000, 0}, Case{TestKind::kBandwidth, -1, 1000, 0},
                        Case{TestKind::kBandwidth, 64, 64, 64}}) {
    reset();
    change([&](FakeVerbs& verbs) { verbs.devices[0].most_inline = c.most; });
    TestSpec wanted = spec(c.kind);
    wanted.inline_bytes = c.asked;
    ASSERT_EQ(why_not(wanted), "measured");
    EXPECT_EQ(fake().queue_pairs[0].cap.max_inline_data, c.got) << c.asked << " of " << c.most;
    const auto sent_inline = [](const auto& one) { return (one.flags & IBV_SEND_INLINE) != 0; };
    EXPECT_EQ(std::ranges::any_of(fake().posted, sent_inline), c.got > 0) << c.asked << " of " << c.most;
  }
  // Devices grant more than was asked for, in whole cache lines or work queue entries. Nothing goes inline for that.
  struct Granted {
    TestKind kind;
    int64_t asked, size_bytes;
    bool goes_inline;
  };
  for (const Granted& c : {Granted{TestKind::kLatency, 0, 2, false}, Granted{TestKind::kLatency, 16, 40, false},
                           Granted{TestKind::kLatency, 16, 16, true}, Granted{TestKind::kBandwidth, -1, 2, false},
                           Granted{TestKind::kBandwidth, 16, 40, false}, Granted{TestKind::kBandwidth, 16, 16, true}}) {
    reset();
    change([&](FakeVerbs& verbs) { verbs.devices[0].least_inline = 60; });
    TestSpec asked = spec(c.kind);
    asked.inline_bytes = c.asked;
    asked.sizes_bytes = {c.size_bytes};
    const auto result = measured(asked);
    ASSERT_TRUE(result) << result.error().to_string();
    const auto sent_inline = [](const auto& one) { return (one.flags & IBV_SEND_INLINE) != 0; };
    EXPECT_EQ(std::ranges::any_of(fake().posted, sent_inline), c.goes_inline) << c.asked << " of " << c.size_bytes;
    EXPECT_EQ(c.kind == TestKind::kLatency ? result->latency[0].used_inline : result->bandwidth[0].used_inline,
              c.goes_inline);
  }
  reset();
  change([&](FakeVerbs& verbs) { verbs.devices[0].most_inline = 60; });
  TestSpec wanted = spec(TestKind::kLatency);
  wanted.inline_bytes = 64;
  EXPECT_EQ(why_not(wanted),
            "perf lat with 127.0.0.1: creating queue pair 1 of 1 on rxe_lo (depth 8, inline 64 bytes): EINVAL (Invalid "
            "argument)\n  the device may allow less: lower --tx-depth, --qps or --inline");
}

TEST_F(RdmaTest, QueuePairsGetThePathThatWasAgreed) {
  ASSERT_EQ(why_not(spec(TestKind::kBandwidth)), "measured");
  ASSERT_EQ(fake().modified.size(), 6u);  // INIT, RTR and RTS on both sides
  std::map<uint32_t, std::map<ibv_qp_state, FakeVerbs::Modified>> by_pair;
  for (const FakeVerbs::Modified& one : fake().modified) by_pair[one.qp][one.attributes.qp_state] = one;
  ASSERT_EQ(by_pair.size(), 2u);
  auto& [a, first] = *by_pair.begin();
  auto& [b, second] = *by_pair.rbegin();
  EXPECT_EQ(first[IBV_QPS_INIT].attributes.port_num, 1);
  EXPECT_EQ(first[IBV_QPS_INIT].attributes.qp_access_flags, unsigned{IBV_ACCESS_REMOTE_WRITE});
  const ibv_qp_attr& ready = first[IBV_QPS_RTR].attributes;
  EXPECT_EQ(ready.dest_qp_num, b);
  EXPECT_EQ(second[IBV_QPS_RTR].attributes.dest_qp_num, a);
  EXPECT_EQ(ready.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(ready.rq_psn, second[IBV_QPS_RTS].attributes.sq_psn);
  EXPECT_LE(ready.rq_psn, 0xffffffu);
  EXPECT_EQ(ready.ah_attr.is_global, 1);
  EXPECT_EQ(ready.ah_attr.port_num, 1);
  EXPECT_EQ(ready.ah_attr.grh.sgid_index, 3);
  EXPECT_EQ(ready.ah_attr.grh.hop_limit, 64);
  EXPECT_EQ(ready.ah_attr.grh.dgid.raw[15], 1);
  EXPECT_EQ(ready.max_dest_rd_atomic, 1);
  EXPECT_EQ(ready.min_rnr_timer, 12);
  const ibv_qp_attr& sends = first[IBV_QPS_RTS].attributes;
  EXPECT_EQ(std::vector<int>({sends.timeout, sends.retry_cnt, sends.rnr_retry, sends.max_rd_atomic}),
            std::vector<int>({14, 7, 7, 1}));
}

// Within a subnet of InfiniBand the LID is enough; the smaller MTU of the two counts.
TEST_F(RdmaTest, InfiniBandGoesByLid) {
  FakeDevice device{.name = "mlx5_0", .gids = {gid_entry("fe80::1:2", 0, rdma::GidType::kInfiniBand, 0)}};
  device.ports = {FakePort{.is_infiniband = true, .lid = 7, .mtu = IBV_MTU_4096}};
  change([&](FakeVerbs& verbs) { verbs.devices = {device}; });
  const auto result = measured(
      {.kind = TestKind::kBandwidth, .sizes_bytes = {64}, .iterations = 1, .remote_device = "mlx5_0"}, "mlx5_0");
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->client.link_layer, "InfiniBand");
  EXPECT_EQ(result->client.path_mtu_bytes, 4096);
  EXPECT_EQ(result->client.address, "127.0.0.1");
  EXPECT_EQ(result->client.netdev, "");
  EXPECT_FALSE(result->client.soft);
  for (const FakeVerbs::Modified& one : fake().modified) {
    if (one.attributes.qp_state != IBV_QPS_RTR) continue;
    EXPECT_EQ(one.attributes.ah_attr.is_global, 0);
    EXPECT_EQ(one.attributes.ah_attr.dlid, 7);
    EXPECT_EQ(one.attributes.path_mtu, IBV_MTU_4096);
  }
}

TEST_F(RdmaTest, ThePortIsTheOneThatIsNamedOrTheFirstActiveOne) {
  FakeDevice device = on_loopback("rxe_lo");
  device.ports = {FakePort{.state = IBV_PORT_DOWN}, FakePort{}, FakePort{}};
  for (uint32_t port : {2u, 3u})
    device.gids.push_back(gid_entry("127.0.0.1", 10 * port, rdma::GidType::kRoceV2, 1, port));
  change([&](FakeVerbs& verbs) { verbs.devices = {device}; });
  TestSpec wanted = spec(TestKind::kBandwidth);
  wanted.remote_device = "rxe_lo:2";
  const auto port_of = [&](const std::string& name) {
    const auto result = measured(wanted, name);
    return result ? std::pair(result->client.port, result->client.gid_index) : std::pair(int64_t{0}, int64_t{0});
  };
  using Port = std::pair<int64_t, int64_t>;
  EXPECT_EQ(port_of("rxe_lo"), Port(2, 20));
  EXPECT_EQ(port_of("rxe_lo:2"), Port(2, 20));
  EXPECT_EQ(port_of("rxe_lo:3"), Port(3, 30));
  EXPECT_EQ(why_not(wanted, "rxe_lo:1"),
            "perf bw with 127.0.0.1: rxe_lo port 1 is DOWN, not ACTIVE\n"
            "  bring its network interface up (`ip link set NAME up`) and check the cable and the switch port");
  for (const char* wrong : {"rxe_lo:0", "rxe_lo:4", "rxe_lo:", "rxe_lo:11", "rxe_lo:x"})
    EXPECT_EQ(why_not(wanted, wrong), fmt::format("perf bw with 127.0.0.1: --device {}: the device has 3 port(s), "
                                                  "counted from 1",
                                                  wrong));
  EXPECT_EQ(why_not(wanted, "mlx5_9"), "perf bw with 127.0.0.1: no RDMA device mlx5_9\n  this machine has rxe_lo");
}

TEST_F(RdmaTest, TheDeviceIsThatOfTheInterfaceTowardThePeer) {
  FakeDevice elsewhere{.name = "mlx5_0", .gids = {gid_entry("10.9.9.9", 0, rdma::GidType::kRoceV2, 77)}};
  FakeDevice second = on_loopback("mlx5_1");
  second.ports = {FakePort{}, FakePort{}};
  for (auto& entry : second.gids) entry.port_num = 2;
  change([&](FakeVerbs& verbs) { verbs.devices = {elsewhere, second}; });
  const auto result = measured(spec(TestKind::kBandwidth));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->client.device, "mlx5_1");
  EXPECT_EQ(result->client.port, 2);
  change([&](FakeVerbs& verbs) { verbs.devices = {elsewhere, {.name = "mlx5_2"}}; });
  EXPECT_EQ(
      why_not(spec(TestKind::kBandwidth)),
      "perf bw with 127.0.0.1: no RDMA device belongs to lo (127.0.0.1), the interface toward the peer; there are: "
      "mlx5_0, mlx5_2\n"
      "  set --device, measure plain sockets with --tcp, or create a soft device: `rdma link add rxe_lo type rxe "
      "netdev lo`");
  change([&](FakeVerbs& verbs) { verbs.faults["ibv_open_device"] = {EACCES, 0}; });
  EXPECT_EQ(
      why_not(spec(TestKind::kBandwidth)),
      "perf bw with 127.0.0.1: no RDMA device belongs to lo (127.0.0.1), the interface toward the peer; there are: "
      "mlx5_0 (cannot be opened), mlx5_2 (cannot be opened)\n"
      "  set --device, measure plain sockets with --tcp, or create a soft device: `rdma link add rxe_lo type rxe "
      "netdev lo`");
  change([&](FakeVerbs& verbs) { verbs.devices.clear(); });
  EXPECT_EQ(why_not(spec(TestKind::kBandwidth)),
            "perf bw with 127.0.0.1: no RDMA device belongs to lo (127.0.0.1), the interface toward the peer; there is "
            "no RDMA device at all\n"
            "  set --device, measure plain sockets with --tcp, or create a soft device: `rdma link add rxe_lo type rxe "
            "netdev lo`");
}

TEST_F(RdmaTest, SaysWhichCallFailed) {
  struct Case {
    const char* function;
    Fault fault;
    std::string said;
  };
  const Case cases[] = {
      {"ibv_get_device_list", {ENOMEM, 0}, "listing RDMA devices: ENOMEM (Cannot allocate memory)"},
      {"ibv_query_port", {EIO, 0}, "querying rxe_lo port 1: EIO (Input/output error)"},
      {"ibv_query_gid_table", {EINVAL, 0}, "reading the GIDs of rxe_lo: EINVAL (Invalid argument)"},
      {"ibv_alloc_pd", {ENOMEM, 0}, "allocating a protection domain of rxe_lo: ENOMEM (Cannot allocate memory)"},
      {"ibv_reg_mr",
       {EFAULT, 0},
       fmt::format("registering {} bytes of memory with rxe_lo: EFAULT (Bad address)", 4 * sysconf(_SC_PAGESIZE))},
      {"ibv_create_cq",
       {EINVAL, 0},
       "creating a completion queue of 18 entries on rxe_lo: EINVAL (Invalid argument)\n  the device may allow fewer: "
       "lower --tx-depth or --qps"},
      {"ibv_create_qp",
       {ENOMEM, 1},
       "creating queue pair 2 of 2 on rxe_lo (depth 8, inline 0 bytes): ENOMEM (Cannot allocate memory)\n  the device "
       "may allow less: lower --tx-depth, --qps or --inline"},
      {"ibv_modify_qp", {EIO, 0}, "bringing a queue pair of rxe_lo to INIT: EIO (Input/output error)"},
      {"ibv_alloc_pd",
       {ENOMEM, 1},
       "at the server: the peer says: allocating a protection domain of rxe_lo: ENOMEM (Cannot allocate memory)"},
      {"post_send",
       {ENOMEM, 0},
       "measuring 2 B: first message of 2 B: posting 1 messages on rxe_lo: ENOMEM (Cannot allocate memory)"},
      {"post_send", {ENOMEM, 2}, "measuring 2 B: posting 2 messages on rxe_lo: ENOMEM (Cannot allocate memory)"},
      {"poll_cq", {EIO, 0}, "measuring 2 B: first message of 2 B: polling the completion queue of rxe_lo failed"},
      {"poll_cq", {EIO, 1}, "measuring 2 B: polling the completion queue of rxe_lo failed"},
  };
  for (const Case& c : cases) {
    reset();
    change([&](FakeVerbs& verbs) { verbs.faults[c.function] = c.fault; });
    TestSpec wanted = spec(TestKind::kBandwidth);
    wanted.sizes_bytes = {2};
    wanted.qps = 2;
    EXPECT_EQ(why_not(wanted), "perf bw with 127.0.0.1: " + c.said) << c.function;
  }
  reset();
  change([&](FakeVerbs& verbs) { verbs.faults["ibv_query_device"] = {EIO, 0}; });
  EXPECT_EQ(why_not(spec(TestKind::kBandwidth), "rxe_lo"),
            "perf bw with 127.0.0.1: querying RDMA device rxe_lo: EIO (Input/output error)");
  reset();
  change([&](FakeVerbs& verbs) { verbs.faults["ibv_open_device"] = {EACCES, 0}; });
  EXPECT_EQ(why_not(spec(TestKind::kBandwidth), "rxe_lo"),
            "perf bw with 127.0.0.1: opening RDMA device rxe_lo: EACCES (Permission denied)\n"
            "  check that /dev/infiniband/uverbs* is readable; in a pod it comes with the RDMA resource");
  change([&](FakeVerbs& verbs) { verbs.devices.clear(); });
  EXPECT_TRUE(why_not(spec(TestKind::kBandwidth), "rxe_lo")
                  .starts_with("perf bw with 127.0.0.1: this machine has no RDMA device\n  `rdma link` lists them; "));
  change([](FakeVerbs& verbs) { verbs.library_missing = true; });
  EXPECT_EQ(why_not(spec(TestKind::kBandwidth)), "perf bw with 127.0.0.1: the fake has no library");
}

TEST_F(RdmaTest, AWriteThatFailsOrNeverEndsIsReported) {
  change([&](FakeVerbs& verbs) { verbs.completes = false; });
  stall_ = milliseconds(100);
  const std::string stalled = why_not(spec(TestKind::kBandwidth));
  EXPECT_TRUE(stalled.starts_with("perf bw with 127.0.0.1: measuring 2 B: first message of 2 B: no traffic for "))
      << stalled;
  stall_ = milliseconds(5000);
  reset();
  change([&](FakeVerbs& verbs) { verbs.completes_with = IBV_WC_RETRY_EXC_ERR; });
  EXPECT_TRUE(why_not(spec(TestKind::kBandwidth))
                  .starts_with("perf bw with 127.0.0.1: measuring 2 B: first message of 2 B: RC write on rxe_lo: "
                               "transport retry counter exceeded\n"));
  TestSpec pings = spec(TestKind::kLatency);
  EXPECT_TRUE(why_not(pings).starts_with(
      "perf lat with 127.0.0.1: measuring 2 B: RC write on rxe_lo: transport retry counter exceeded\n"));
  const std::string measuring = "perf lat with 127.0.0.1: measuring 2 B: ";
  reset();
  change([&](FakeVerbs& verbs) { verbs.faults["post_send"] = {EIO, 0}; });
  EXPECT_EQ(why_not(pings), measuring + "posting a message on rxe_lo: EIO (Input/output error)");
  reset();
  change([&](FakeVerbs& verbs) { verbs.faults["poll_cq"] = {EIO, 0}; });
  // Both sides poll. Where the server's fails first, its queue pair goes, and the client's next write with it.
  EXPECT_THAT(why_not(pings), testing::AnyOf(measuring + "polling the completion queue of rxe_lo failed",
                                             measuring + "posting a message on rxe_lo: EINVAL (Invalid argument)"));
}

}  // namespace
}  // namespace railbed::perf
