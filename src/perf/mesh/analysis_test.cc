// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/analysis.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "perf/mesh/rows.h"
#include "perf/mesh/test_mesh.h"

namespace railbed::perf::mesh {
namespace {

std::vector<Nic> suspects(const Analysis& analysis) {
  std::vector<Nic> found;
  for (uint32_t i = 0; i < analysis.nics.size(); ++i)
    if (analysis.nics[i].suspect()) found.push_back({i / analysis.rails, i % analysis.rails});
  return found;
}

RC_GTEST_PROP(MedianCode, IsWhatSortingGives, ()) {
  auto codes = *rc::gen::container<std::vector<uint16_t>>(*rc::gen::inRange<size_t>(1, 700),
                                                          rc::gen::inRange<uint16_t>(0, 1500));
  auto sorted = codes;
  std::ranges::sort(sorted);
  auto copy = codes;
  RC_ASSERT(median_code(copy, Middle::kLower) == sorted[(sorted.size() - 1) / 2]);
  RC_ASSERT(median_code(codes, Middle::kUpper) == sorted[sorted.size() / 2]);
}

// Whatever the seed, the size and whether leaves are known.
RC_GTEST_PROP(Analysis, OnePercentOfJitterIsNoFinding, ()) {
  const auto hosts = *rc::gen::inRange<uint32_t>(2, 40);
  const auto rails = *rc::gen::inRange<uint32_t>(1, 5);
  const auto hosts_per_leaf = *rc::gen::inRange<uint32_t>(0, 20);
  SimulatedMesh mesh(rail_fabric(hosts, rails, hosts_per_leaf), *rc::gen::arbitrary<uint64_t>());
  ScheduleSpec spec = mesh.full();
  spec.pattern = *rc::gen::element(Pattern::kFull, Pattern::kQuick, Pattern::kShift);
  if (rails > 1) spec.rails = *rc::gen::element(RailPairs::kSame, RailPairs::kCross, RailPairs::kAll);
  RC_ASSERT(suspects(analyse(mesh.run(spec), {.min_latency_increase = 0.7})).empty());
}

// A NIC whose bandwidth is less by 10 % or more, in whichever direction, is found, and nothing else.
RC_GTEST_PROP(Analysis, OneSlowNicIsTheOnlySuspect, ()) {
  const auto hosts = *rc::gen::inRange<uint32_t>(6, 40);
  SimulatedMesh mesh(rail_fabric(hosts, 2, *rc::gen::element<uint32_t>(0, 8)), *rc::gen::arbitrary<uint64_t>());
  const Nic slow{*rc::gen::inRange<uint32_t>(0, hosts), *rc::gen::inRange<uint32_t>(0, 2)};
  const double factor = *rc::gen::inRange(20, 91) / 100.0;
  const bool sends = *rc::gen::arbitrary<bool>();
  (sends ? mesh.nic(slow).send : mesh.nic(slow).receive) = factor;
  const Analysis analysis = analyse(mesh.run(mesh.full()), {});
  RC_ASSERT(suspects(analysis) == std::vector<Nic>{slow});
  RC_ASSERT(analysis.of(slow).is_slow(Metric::kSend) == sends);
  RC_ASSERT(analysis.of(slow).is_slow(Metric::kReceive) == !sends);
}

TEST(Analysis, ReportsBandwidthInItsUnits) {
  SimulatedMesh mesh(rail_fabric(16, 1, 0), 3);
  mesh.nic({4, 0}).send = 0.5;
  const Analysis analysis = analyse(mesh.run(mesh.full()), {});
  EXPECT_NEAR(LogValue::value_of(*analysis.of({4, 0}).of(Metric::kSend)), 195500, 2000);
  EXPECT_NEAR(LogValue::value_of(*analysis.of({4, 0}).of(Metric::kReceive)), 391000, 4000);
  EXPECT_NEAR(LogValue::value_of(analysis.usual_of(0, Metric::kSend)->center), 391000, 4000);
  EXPECT_NEAR(LogValue::value_of(*analysis.of({7, 0}).of(Metric::kLatency)), 2000, 30);
}

// Latency within a leaf is less than between leaves; with leaves of unlike sizes that accused those on the small one.
TEST(Analysis, KnownLeavesHaveAYardstickEach) {
  Fabric fabric = rail_fabric(20, 1, 10);
  for (uint32_t host = 0; host < 20; ++host) fabric.endpoints[host].ports[0].leaf = host < 16 ? 0 : 1;
  SimulatedMesh mesh(fabric, 5);
  const MeshResults results = mesh.run(mesh.full());
  EXPECT_EQ(suspects(analyse(results, {})), std::vector<Nic>{});

  for (Endpoint& endpoint : fabric.endpoints) endpoint.ports[0].leaf.reset();
  MeshResults unknown = *MeshResults::make(fabric, results.schedule());
  for (const auto& [round, pairs] : results.rounds()) unknown.put_round(round, pairs);
  EXPECT_EQ(suspects(analyse(unknown, {})), (std::vector<Nic>{{16, 0}, {17, 0}, {18, 0}, {19, 0}}));
}

TEST(Analysis, ARailThatIsSlowAsAWholeIsFoundByTheOthers) {
  SimulatedMesh mesh(rail_fabric(8, 3, 0), 5);
  for (uint32_t host = 0; host < 8; ++host) mesh.nic({host, 1}).send = 0.6;
  const MeshResults results = mesh.run(mesh.full());
  EXPECT_EQ(suspects(analyse(results, {})).size(), 8U);
  EXPECT_EQ(suspects(analyse(results, {.rail_kinds = RailKinds::kDifferent})), std::vector<Nic>{});
}

TEST(Analysis, OfFlappingLinksEachIsFoundAndItsPartnersAreNot) {
  SimulatedMesh mesh(rail_fabric(48, 2, 16), 5);
  mesh.nic({3, 0}).flaps = 0.6;
  mesh.nic({30, 0}).flaps = 0.15;
  mesh.nic({30, 1}).flaps = 1;
  const Analysis analysis = analyse(mesh.run(mesh.full()), {});
  EXPECT_EQ(suspects(analysis), (std::vector<Nic>{{3, 0}, {30, 0}, {30, 1}}));
  EXPECT_EQ(analysis.of({30, 1}).bad, 47U);
  EXPECT_GT(analysis.of({5, 1}).bad, 0U);
  EXPECT_EQ(analysis.of({5, 1}).unexplained, 0U);
}

TEST(Analysis, OneFailedPairAccusesNoHost) {
  SimulatedMesh mesh(rail_fabric(8, 1, 0), 5);
  MeshResults results = mesh.run(mesh.full());
  results.put({2, 1, 0}, failed_pair(1));
  EXPECT_EQ(suspects(analyse(results, {})), std::vector<Nic>{});
}

TEST(Analysis, OfThreeHostsTheBadOneIsFound) {
  SimulatedMesh mesh(rail_fabric(3, 1, 0), 5);
  mesh.nic({1, 0}) = {.send = 0.5, .receive = 0.5, .flaps = 0};
  EXPECT_EQ(suspects(analyse(mesh.run(mesh.full()), {})), (std::vector<Nic>{{1, 0}}));
}

TEST(Analysis, OfAFewPairsMoreHasToBeMissing) {
  for (const double gbps : {391.0, 368.0, 350.0}) {
    MeshResults results = *MeshResults::make(rail_fabric(2, 3, 0), *Schedule::make({.hosts = 2, .rail_count = 3}));
    for (uint32_t rail = 0; rail < 3; ++rail)
      results.put({0, 0, rail},
                  compact({.forward_gbps = rail == 1 ? gbps : 391, .reverse_gbps = 391, .p50_us = 2, .samples = 9}));
    // One end sends slowly, or the other one receives slowly: two hosts cannot say which.
    const std::vector<Nic> both = {{0, 1}, {1, 1}};
    EXPECT_EQ(suspects(analyse(results, {})), gbps == 350 ? both : std::vector<Nic>{}) << gbps;
  }
}

TEST(Analysis, CrossRailPairsAccuseTheRightRail) {
  SimulatedMesh mesh(rail_fabric(12, 4, 6), 9);
  mesh.nic({5, 2}).receive = 0.7;
  ScheduleSpec spec = mesh.full();
  spec.rails = RailPairs::kCross;
  EXPECT_EQ(suspects(analyse(mesh.run(spec), {.min_latency_increase = 1})), (std::vector<Nic>{{5, 2}}));
}

TEST(Analysis, IsTheSameInAnyNumberOfThreads) {
  SimulatedMesh mesh(rail_fabric(24, 3, 8), 9);
  mesh.nic({5, 2}).send = 0.7;
  const MeshResults results = mesh.run(mesh.full());
  const Analysis one = analyse(results, {}, 1);
  const Analysis five = analyse(results, {}, 5);
  for (size_t i = 0; i < one.nics.size(); ++i) {
    EXPECT_EQ(one.nics[i].level, five.nics[i].level);
    EXPECT_EQ(one.nics[i].slow, five.nics[i].slow);
  }
}

TEST(Analysis, NothingMeasuredHasNoFigures) {
  const Fabric fabric = rail_fabric(4, 2, 0);
  const auto results = MeshResults::make(fabric, *Schedule::make({.hosts = 4, .rail_count = 2}));
  const Analysis analysis = analyse(*results, {});
  EXPECT_EQ(suspects(analysis), std::vector<Nic>{});
  EXPECT_EQ(analysis.usual_of(0, Metric::kSend), std::nullopt);
  EXPECT_EQ(analysis.of({0, 0}).of(Metric::kSend), std::nullopt);
}

}  // namespace
}  // namespace railbed::perf::mesh
