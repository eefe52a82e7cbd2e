// SPDX-License-Identifier: Apache-2.0
// Whole meshes: a coordinator and endpoints in this process, over TCP and over devices in memory.
#include <algorithm>
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/channel/test_greeting.h"
#include "perf/mesh/mesh_file.h"
#include "perf/mesh/mesh_report.h"
#include "perf/mesh/test_endpoints.h"
#include "perf/stream/fake_verbs.h"
#include "rdma/gid.h"

namespace railbed::perf::mesh {
namespace {

using testing::HasSubstr;

MeshSetup of(const Endpoints& endpoints, uint32_t hosts, const std::string& devices = "") {
  std::vector<HostAddress> all;
  for (uint32_t host = 0; host < hosts; ++host)
    all.push_back(on_loopback(endpoints.port(host), devices.empty() ? "" : fmt::format("{}{}", devices, host)));
  return setup_of(std::move(all));
}

// On the loopback interface (index 1 in every network namespace).
FakeDevice device(const std::string& name) {
  ibv_gid_entry entry{};
  const Gid gid = IpAddress::parse("127.0.0.1")->to_gid();
  std::ranges::copy(gid.bytes, entry.gid.raw);
  entry.port_num = 1;
  entry.gid_type = static_cast<uint32_t>(rdma::GidType::kRoceV2);
  entry.ndev_ifindex = 1;
  return {.name = name, .gids = {entry}};
}

// With what would be in the file of --save.
struct Kept {
  std::string bytes;
  std::function<Result<void>(std::string_view)> keeper() {
    return [this](std::string_view more) -> Result<void> {
      bytes += more;
      return {};
    };
  }
};

TEST(MeshRun, MeasuresAllPairsOverTcp) {
  const Endpoints endpoints(4);
  MeshOptions options = brief(Transport::kTcp);
  options.schedule.pattern = Pattern::kFull;
  options.loop_back = LoopBack::kTried;
  Kept kept;
  options.keep = kept.keeper();
  std::vector<std::string> progress;
  options.fleet.on_progress = [&](const std::string& line) { progress.push_back(line); };
  const auto run = run_mesh(of(endpoints, 4), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->ended_by, "");
  EXPECT_EQ(run->results.coverage(), (Coverage{.planned = 6, .measured = 6}));
  for (uint32_t round = 0; round < 3; ++round)
    for (uint32_t pair = 0; pair < 2; ++pair) {
      const PairResult result = run->results.at({round, pair, 0});
      EXPECT_TRUE(result.forward_mbps.measured() && result.reverse_mbps.measured()) << round << " " << pair;
      EXPECT_GT(result.samples(), 0u);
    }
  EXPECT_EQ(run->canaries.size(), 4u);
  for (const Canary& canary : run->canaries) EXPECT_GT(canary.gbps, 0) << canary.problem;
  EXPECT_FALSE(run->soft);
  const auto file = read_mesh_file(kept.bytes);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_FALSE(file->damage);
  EXPECT_EQ(file->results.rounds(), run->results.rounds());
  for (const char* line : {"4 of 4 endpoints answered", "each NIC over itself: lat", "round 1 of 3: latency",
                           "round 3 of 3: bandwidth back"})
    EXPECT_THAT(progress, testing::Contains(line));
}

// As on a path that is dead most of the time, or a machine without a processor to spare: the endpoint reports the
// truth.
TEST(MeshRun, WhoHasFewPingsToReportOfIsNotLost) {
  const Endpoints endpoints(2);
  MeshOptions options = brief(Transport::kTcp);
  options.latency.rate_per_s = 100;
  options.latency.duration_ms = 100;
  const auto run = run_mesh(of(endpoints, 2), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  for (const LostHost& lost : run->results.lost()) ADD_FAILURE() << lost.host << " was lost: " << lost.reason;
  ASSERT_EQ(run->results.coverage(), (Coverage{.planned = 1, .measured = 1}));
  const PairResult pair = run->results.at({0, 0, 0});
  EXPECT_TRUE(pair.p50_ns.measured());
  EXPECT_FALSE(pair.p99_ns.measured());
  EXPECT_EQ(pair.samples(), 8u) << "10, rounded down to a power of two";
}

TEST(MeshRun, AShiftGoesOneWayAllAtOnce) {
  const Endpoints endpoints(3);
  MeshOptions options = brief(Transport::kTcp);
  options.schedule.pattern = Pattern::kShift;
  const auto run = run_mesh(of(endpoints, 3), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->results.coverage(), (Coverage{.planned = 6, .measured = 6}));
  EXPECT_TRUE(run->results.at({0, 2, 0}).forward_mbps.measured());
  EXPECT_FALSE(run->results.at({0, 2, 0}).reverse_mbps.measured());
}

class RdmaMesh : public testing::Test {
 protected:
  RdmaMesh() { reset({}); }
  ~RdmaMesh() override { reset({}); }
  static void reset(std::vector<FakeDevice> devices, bool records = true) {
    const std::lock_guard lock(fake().mutex);
    fake().devices = std::move(devices);
    fake().records = records;
    fake().faults.clear();
    fake().modified.clear();
    fake().queue_pairs.clear();
    fake().completion_queues.clear();
  }
  static std::vector<FakeDevice> devices(uint32_t count) {
    std::vector<FakeDevice> all;
    for (uint32_t i = 0; i < count; ++i) all.push_back(device(fmt::format("rxe{}", i)));
    return all;
  }
  // With a clock for each endpoint, which its device moves, and one for the coordinator.
  std::vector<FakeDevice> devices_with_clocks(uint32_t count) {
    std::vector<FakeDevice> all = devices(count);
    for (FakeDevice& one : all) one.clock = &clocks_.emplace_back(kStep);
    return all;
  }

  static constexpr std::chrono::microseconds kStep{200};
  std::deque<SimulatedClock> clocks_;
  SimulatedClock coordinators_{kStep};
};

// The slow one takes 2 ms a post, where the others take a few steps of their clocks.
TEST_F(RdmaMesh, NamesTheSlowOneOfEight) {
  constexpr uint32_t kHosts = 8;
  constexpr uint32_t kSlow = 5;
  auto all = devices_with_clocks(kHosts);
  all[kSlow].post_takes = std::chrono::milliseconds(2);
  reset(std::move(all), false);
  {
    const Endpoints endpoints(clocks_);
    MeshOptions options = brief(Transport::kRdma);
    options.fleet.limits.clock = &coordinators_;
    options.latency.duration_ms = options.bandwidth.duration_ms = 60;
    options.schedule.pattern = Pattern::kFull;
    options.loop_back = LoopBack::kTried;
    const auto run = run_mesh(of(endpoints, kHosts, "rxe"), std::move(options));
    ASSERT_TRUE(run) << run.error().to_string();
    const std::string reported = fmt::format("{}", fmt::join(report_lines(*run, {}, {}), "\n"));
    EXPECT_EQ(run->results.coverage(), (Coverage{.planned = 28, .measured = 28})) << reported;
    EXPECT_TRUE(run->soft);
    const auto slow =
        std::ranges::find_if(run->outliers, [](const Outlier& outlier) { return outlier.nic == Nic{kSlow, 0}; });
    ASSERT_NE(slow, run->outliers.end()) << reported;
    EXPECT_EQ(slow->scope, Scope::kNic);
    EXPECT_NE(slow->retest, RetestOutcome::kNotReproduced) << reported;
    EXPECT_TRUE(std::ranges::any_of(slow->evidence, [](const SymptomFigures& one) {
      return one.symptom == Symptom::kSlowSend;
    })) << reported;
    EXPECT_THAT(reported, HasSubstr("NIC   host5 rail0  sends slowly"));
    EXPECT_THAT(reported, HasSubstr("soft RDMA: the figures prove function"));
  }
  EXPECT_EQ(fake().open_objects, 0) << "left open";
}

// Between fifteen fast pings one that takes 300 ms.
TEST_F(RdmaMesh, OutagesAreReportedWithTheirPair) {
  auto all = devices_with_clocks(2);
  all[0].post_takes = std::chrono::milliseconds(300);
  all[0].takes_every = 16;
  reset(std::move(all), false);
  const Endpoints endpoints(clocks_);
  MeshOptions options = brief(Transport::kRdma);
  options.fleet.limits.clock = &coordinators_;
  options.latency.duration_ms = 1'500;
  const auto run = run_mesh(of(endpoints, 2, "rxe"), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  for (const FailedPair& pair : run->failed) ADD_FAILURE() << pair.problem;
  ASSERT_EQ(run->results.coverage(), (Coverage{.planned = 1, .measured = 1}));
  EXPECT_GT(run->results.at({0, 0, 0}).outages, 0);
}

// A port that is down takes no part, with the reason; the others do.
TEST_F(RdmaMesh, ANicThatCannotBeUsedIsSkipped) {
  auto all = devices(3);
  all[1].ports[0].state = IBV_PORT_DOWN;
  reset(std::move(all));
  const Endpoints endpoints(3);
  const auto run = run_mesh(of(endpoints, 3, "rxe"), brief(Transport::kRdma));
  ASSERT_TRUE(run) << run.error().to_string();
  ASSERT_EQ(run->skipped.size(), 1u);
  EXPECT_EQ(run->skipped[0].nic, (Nic{1, 0}));
  EXPECT_THAT(run->skipped[0].reason, HasSubstr("rxe1 port 1 is DOWN, not ACTIVE"));
  EXPECT_EQ(run->results.coverage(), (Coverage{.planned = 3, .measured = 1, .skipped = 2}));
  ASSERT_EQ(run->results.lost().size(), 1u);
  EXPECT_THAT(run->results.lost()[0].reason, HasSubstr("no rail can be used: "));
}

// ---- what goes away

// A whole mesh after another one: the endpoints are free again.
void expect_that_all_is_free(const MeshSetup& setup) {
  const auto run = run_mesh(setup, brief(Transport::kTcp));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->ended_by, "");
  for (const LostHost& lost : run->results.lost()) ADD_FAILURE() << lost.host << " was lost: " << lost.reason;
  for (const FailedPair& pair : run->failed)
    ADD_FAILURE() << pair.from.host << " to " << pair.to.host << ": " << pair.problem;
  EXPECT_EQ(run->results.coverage().measured, run->results.coverage().planned);
}

TEST(MeshRun, AStopLeavesWholeRoundsAndFreeEndpoints) {
  const Endpoints endpoints(4);
  MeshOptions options = brief(Transport::kTcp);
  Kept kept;
  options.keep = kept.keeper();
  std::stop_source stop;
  options.fleet.stop = stop.get_token();
  options.fleet.on_progress = [&](const std::string& line) {
    if (line == "round 2 of 3: bandwidth") stop.request_stop();
  };
  const auto run = run_mesh(of(endpoints, 4), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->ended_by, "stopped");
  EXPECT_EQ(run->results.coverage(), (Coverage{.planned = 6, .measured = 2, .not_run = 4}));
  const auto file = read_mesh_file(kept.bytes);
  ASSERT_TRUE(file) << file.error().to_string();
  ASSERT_TRUE(file->damage);
  EXPECT_EQ(file->damage->message,
            "mesh file: the end is missing (rounds read: 1): the mesh was stopped, or the file was cut");
  EXPECT_EQ(file->results.rounds(), run->results.rounds());
  expect_that_all_is_free(of(endpoints, 4));
}

TEST(MeshRun, AnEndpointThatDiesIsSkippedFromThenOn) {
  Endpoints endpoints(4);
  MeshOptions options = brief(Transport::kTcp);
  Kept kept;
  options.keep = kept.keeper();
  options.fleet.on_progress = [&](const std::string& line) {
    if (line == "round 2 of 3: latency") endpoints.stop(3);
  };
  const auto run = run_mesh(of(endpoints, 4), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->ended_by, "");
  ASSERT_EQ(run->results.lost().size(), 1u);
  EXPECT_EQ(run->results.lost()[0].host, 3u);
  EXPECT_EQ(run->results.lost()[0].round, 1u);
  EXPECT_EQ(run->results.lost()[0].reason, "the peer closed the connection");
  const Coverage coverage = run->results.coverage();
  EXPECT_EQ(coverage.measured, 4u);  // one of each later round, and two of the first
  EXPECT_EQ(coverage.measured + coverage.failed + coverage.skipped, 6u);
  const auto file = read_mesh_file(kept.bytes);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_FALSE(file->damage);
  EXPECT_EQ(file->results.lost(), run->results.lost());
}

TEST(MeshRun, AFullDiskEndsIt) {
  const Endpoints endpoints(3);
  MeshOptions options = brief(Transport::kTcp);
  int pieces = 0;
  options.keep = [&](std::string_view) -> Result<void> {
    if (++pieces < 3) return {};
    return fail(Code::kExhausted, "write mesh: ENOSPC");
  };
  const auto run = run_mesh(of(endpoints, 3), std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->ended_by, "write mesh: ENOSPC");
  EXPECT_EQ(run->results.coverage().measured, 2u);
}

// ---- who is not there, or does not want

TEST(MeshRun, SaysWhyNothingCanBeMeasured) {
  const Endpoints without_token(1, patient(), "");
  const Endpoints with_another(1, patient(), "another");
  uint16_t unserved = 0;
  {
    auto listener = Listener::open(*IpAddress::parse("127.0.0.1"), 0);
    ASSERT_TRUE(listener);
    unserved = listener->port();
  }
  const auto run =
      run_mesh(setup_of({on_loopback(unserved), on_loopback(without_token.port(0)), on_loopback(with_another.port(0))}),
               brief(Transport::kTcp));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().story(),
            fmt::format("a mesh needs two endpoints, 0 of 3 can be used; host0: connecting to 127.0.0.1 port {}: "
                        "connect: ECONNREFUSED (Connection refused); host1: the endpoint has no token and cannot prove "
                        "its identity; host2: the endpoint does not have this token: its proof is wrong",
                        unserved));
}

// Also where the coordinator asks for no proof.
TEST(MeshRun, AServerWithoutATokenTakesPartInNone) {
  const Endpoints without_token(1, patient(), "");
  auto socket = Socket::connect("127.0.0.1", without_token.port(0), soon());
  ASSERT_TRUE(socket);
  Channel channel(std::move(*socket));
  greet_as_client(channel, "");
  ASSERT_TRUE(channel.send(Enlist{.mesh = {}, .transport = Transport::kTcp, .rails = {}}, soon()));
  EXPECT_EQ(channel.expect<Enlisted>(milliseconds(20000)).error().to_string(),
            "the peer says: mesh requires --token-file: without a token any client that reaches this server could make "
            "it send traffic\n"
            "  start it with --token-file, and give `railbed perf mesh` the same file");
}

// Two meshes of one endpoint would measure each other: the second one waits.
TEST(MeshRun, TheSecondOneWaitsForTheFirst) {
  const Endpoints endpoints(2);
  const MeshSetup setup = of(endpoints, 2);
  std::jthread second;
  MeshOptions options = brief(Transport::kTcp);
  options.fleet.on_progress = [&](const std::string& line) {
    if (line == "round 1 of 1: latency") second = std::jthread([&setup] { expect_that_all_is_free(setup); });
  };
  const auto run = run_mesh(setup, std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->results.coverage(), (Coverage{.planned = 1, .measured = 1}));
}

// But not for long: each of two may have an endpoint that the other one waits for.
TEST(MeshRun, TwoThatWaitForEachOtherAreReportedInTime) {
  perf::Limits limits = patient();
  limits.turn = milliseconds(300);
  const Endpoints endpoints(2, limits);
  auto socket = Socket::connect("127.0.0.1", endpoints.port(1), Deadline::after(milliseconds(10000)));
  ASSERT_TRUE(socket);
  Channel other(std::move(*socket));
  const Deadline deadline = Deadline::after(milliseconds(10000));
  greet_as_client(other, kToken);
  ASSERT_TRUE(other.send(Enlist{.mesh = {}, .transport = Transport::kTcp, .rails = {}}, deadline));
  ASSERT_TRUE(other.expect<Enlisted>(milliseconds(10000)));
  const auto run = run_mesh(of(endpoints, 2), brief(Transport::kTcp));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().story(),
            "a mesh needs two endpoints, 1 of 2 can be used; host1: the peer says: still queued after 300 ms: another "
            "measurement is on all rails, for a mesh");
}

}  // namespace
}  // namespace railbed::perf::mesh
