// SPDX-License-Identifier: Apache-2.0
// Whole collectives: a coordinator and ranks in this process, over TCP and over devices in memory.
#include <algorithm>
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/collective/collective.h"
#include "perf/mesh/test_endpoints.h"
#include "perf/stream/fake_verbs.h"
#include "rdma/gid.h"

namespace railbed::perf::collective {
namespace {

using mesh::Endpoints;
using mesh::kToken;
using testing::HasSubstr;

// rank0, rank1, …, each with `rails` NICs, which are all the loopback interface.
mesh::MeshSetup of(const Endpoints& endpoints, uint32_t ranks, uint32_t rails = 1, const std::string& device = "") {
  mesh::MeshSetup setup;
  for (uint32_t rail = 0; rail < rails; ++rail) setup.fabric.rails.push_back(fmt::format("rail{}", rail));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    setup.fabric.endpoints.push_back(
        {.host = fmt::format("rank{}", rank), .ports = std::vector<mesh::RailPort>(rails)});
    mesh::HostAddress host{.control = "127.0.0.1", .port = endpoints.port(rank), .rails = {}};
    for (uint32_t rail = 0; rail < rails; ++rail)
      host.rails.push_back(mesh::OwnRail{.rail = rail,
                                         .address = *IpAddress::parse("127.0.0.1"),
                                         .device = device.empty() ? "" : fmt::format("{}{}", device, rank)});
    setup.hosts.push_back(host);
  }
  return setup;
}

CollectiveOptions brief(Transport transport, std::vector<uint64_t> sizes) {
  CollectiveOptions options;
  options.sizes_bytes = std::move(sizes);
  options.iterations = 3;
  options.warm_up = 1;
  options.fleet.transport = transport;
  options.fleet.token = kToken;
  options.fleet.limits = mesh::patient();
  return options;
}

void expect_right(const Result<CollectiveRun>& run, size_t results) {
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->ended_by, "");
  EXPECT_TRUE(run->is_right());
  ASSERT_EQ(run->results.size(), results);
  for (const SizeResult& result : run->results)
    for (const RailResult& rail : result.rails) {
      EXPECT_GT(rail.time_us, 0);
      EXPECT_GT(rail.algbw_gbytes_per_s, 0);
      for (const RankFigures& rank : rail.ranks) {
        EXPECT_GT(rank.p50_us, 0);
        EXPECT_LE(rank.waited_p50_us, rank.max_us);
        EXPECT_LE(rank.p50_us, rank.max_us);
      }
    }
}

// Also sizes with fewer elements than ranks, and of several segments and slices.
TEST(CollectiveRun, SumsAreRightOverTcp) {
  for (const uint32_t ranks : {2u, 3u, 5u}) {
    const Endpoints endpoints(ranks);
    const auto run = run_collective(of(endpoints, ranks, 2), brief(Transport::kTcp, {4, 12, 4100, 1200000}));
    expect_right(run, 8);
    EXPECT_EQ(run->results[3].rails[1].steps.size(), 2 * (ranks - 1));
    EXPECT_EQ(run->results[7].rails[1].steps.size(), 2u);
    EXPECT_FALSE(run->soft);
    const SizeResult& largest = run->results[3];
    EXPECT_DOUBLE_EQ(largest.busbw_gbytes_per_s(), largest.algbw_gbytes_per_s() * 2 * (ranks - 1) / ranks);
    EXPECT_DOUBLE_EQ(largest.algbw_gbytes_per_s(),
                     largest.rails[0].algbw_gbytes_per_s + largest.rails[1].algbw_gbytes_per_s);
  }
}

class RdmaCollective : public testing::Test {
 protected:
  ~RdmaCollective() override { reset({}); }
  static void reset(std::vector<FakeDevice> devices) {
    const std::lock_guard lock(fake().mutex);
    fake().devices = std::move(devices);
    fake().records = false;
    fake().faults.clear();
    fake().completes_with = IBV_WC_SUCCESS;
    fake().modified.clear();
    fake().queue_pairs.clear();
    fake().completion_queues.clear();
  }
  // On the loopback interface (index 1 in every network namespace).
  static std::vector<FakeDevice> devices(uint32_t count) {
    std::vector<FakeDevice> all;
    for (uint32_t i = 0; i < count; ++i) {
      ibv_gid_entry entry{};
      const Gid gid = IpAddress::parse("127.0.0.1")->to_gid();
      std::ranges::copy(gid.bytes, entry.gid.raw);
      entry.port_num = 1;
      entry.gid_type = static_cast<uint32_t>(rdma::GidType::kRoceV2);
      entry.ndev_ifindex = 1;
      all.push_back({.name = fmt::format("rxe{}", i), .gids = {entry}});
    }
    return all;
  }
};

TEST_F(RdmaCollective, SumsAreRight) {
  for (const uint32_t ranks : {2u, 4u}) {
    reset(devices(ranks));
    {
      const Endpoints endpoints(ranks);
      const auto run = run_collective(of(endpoints, ranks, 2, "rxe"), brief(Transport::kRdma, {4, 4100, 1200000}));
      expect_right(run, 6);
      EXPECT_TRUE(run->soft);
    }
    EXPECT_EQ(fake().open_objects, 0) << "left open";
  }
}

// It takes 3 ms for each post, where the others take a few steps of their clocks.
TEST_F(RdmaCollective, TheSlowOneIsNamed) {
  auto all = devices(4);
  std::deque<SimulatedClock> clocks;
  for (FakeDevice& one : all) one.clock = &clocks.emplace_back(std::chrono::microseconds(1));
  all[2].post_takes = std::chrono::milliseconds(3);
  reset(std::move(all));
  const Endpoints endpoints(clocks);
  CollectiveOptions options = brief(Transport::kRdma, {4096});
  options.algorithms = {Algorithm::kRing};
  options.iterations = 5;
  const auto run = run_collective(of(endpoints, 4, 1, "rxe"), std::move(options));
  expect_right(run, 1);
  const auto& slow = run->results[0].rails[0].straggler;
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->rank, 2u);
  EXPECT_GT(slow->took_us, 6 * 3000);
}

TEST_F(RdmaCollective, ADeviceThatCannotBeUsedEndsItAndIsNamed) {
  auto all = devices(2);
  all[1].ports[0].state = IBV_PORT_DOWN;
  reset(std::move(all));
  const Endpoints endpoints(2);
  const auto run = run_collective(of(endpoints, 2, 1, "rxe"), brief(Transport::kRdma, {4096}));
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().story(), HasSubstr("a collective needs all its ranks; rank1: rail0: rxe1 port 1 is DOWN"));
}

TEST_F(RdmaCollective, AWriteThatFailsIsReportedWithThePeer) {
  reset(devices(2));
  {
    const std::lock_guard lock(fake().mutex);
    fake().completes_with = IBV_WC_RETRY_EXC_ERR;
  }
  const Endpoints endpoints(2);
  const auto run = run_collective(of(endpoints, 2, 1, "rxe"), brief(Transport::kRdma, {4096}));
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().story(), testing::AnyOf(HasSubstr("writing to rank 1 (rank1)"),  // whichever was first
                                                  HasSubstr("writing to rank 0 (rank0)")));
  EXPECT_THAT(run.error().story(), HasSubstr("retry"));
}

// ---- what goes away

void expect_that_all_is_free(const Endpoints& endpoints, uint32_t ranks) {
  expect_right(run_collective(of(endpoints, ranks), brief(Transport::kTcp, {64})), 2);
}

TEST(CollectiveRun, AStopLeavesWhatWasMeasuredAndFreeRanks) {
  const Endpoints endpoints(3);
  CollectiveOptions options = brief(Transport::kTcp, {64, 1 << 20});
  std::stop_source stop;
  options.fleet.stop = stop.get_token();
  options.fleet.on_progress = [&](const std::string& line) {
    if (line == "tree, 1 MiB") stop.request_stop();
  };
  const auto run = run_collective(of(endpoints, 3), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->ended_by, "stopped");
  EXPECT_EQ(run->results.size(), 3u);
  expect_that_all_is_free(endpoints, 3);
}

TEST(CollectiveRun, ARankThatDiesEndsItAndIsNamed) {
  Endpoints endpoints(3);
  CollectiveOptions options = brief(Transport::kTcp, {64, 1 << 20});
  options.fleet.on_progress = [&](const std::string& line) {
    if (line == "tree, 64 B") endpoints.stop(1);
  };
  const auto run = run_collective(of(endpoints, 3), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_THAT(run->ended_by, HasSubstr("rank1: "));
  EXPECT_EQ(run->results.size(), 2u);
}

TEST(CollectiveRun, SaysWhyItCannotBegin) {
  const Endpoints endpoints(1);
  const Endpoints without_token(1, mesh::patient(), "");
  mesh::MeshSetup setup = of(endpoints, 1);
  mesh::MeshSetup other = of(without_token, 1);
  setup.fabric.endpoints.push_back({.host = "stranger", .ports = {mesh::RailPort{}}});
  setup.hosts.push_back(other.hosts[0]);
  const auto run = run_collective(setup, brief(Transport::kTcp, {64}));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().to_string(),
            "a collective needs all its ranks; stranger: the endpoint has no token and cannot prove its identity\n"
            "  `railbed perf serve --token-file FILE` has to run on each of them, of this version");
  setup.hosts[1] = setup.hosts[0];
  setup.hosts[1].rails[0]->address = *IpAddress::parse("192.0.2.1");
  setup.hosts[1].port = endpoints.port(0);
  setup.hosts[1].rails[0].reset();
  EXPECT_EQ(run_collective(setup, brief(Transport::kTcp, {64})).error().to_string(),
            "stranger has no NIC on rail0, but every rank must take part on every rail\n"
            "  leave out the rail, or the host");
  setup.hosts.pop_back();
  EXPECT_EQ(run_collective(setup, brief(Transport::kTcp, {64})).error().message,
            "a collective has 2 to 256 ranks, and this one 1");
}

}  // namespace
}  // namespace railbed::perf::collective
