// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/outliers.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "perf/mesh/bands.h"
#include "perf/mesh/mesh_report.h"
#include "perf/mesh/outlier_lines.h"
#include "perf/mesh/test_mesh.h"

namespace railbed::perf::mesh {
namespace {

struct Outcome {
  Analysis analysis;
  std::vector<Outlier> outliers;
  SecondPass second;
};

Outcome judge(SimulatedMesh& mesh) {
  Outcome outcome{.analysis = analyse(mesh.run(mesh.full()), {}), .outliers = {}, .second = {}};
  outcome.outliers = find_outliers(mesh.fabric(), outcome.analysis, {});
  outcome.second = plan_second_pass(mesh.fabric(), outcome.analysis, outcome.outliers);
  return outcome;
}

// "leaf 3, NIC 4/1", in the order of outliers.
std::string named(const std::vector<Outlier>& outliers) {
  std::string text;
  for (const Outlier& outlier : outliers) {
    if (!text.empty()) text += ", ";
    text += name_of(outlier.scope);
    if (outlier.scope == Scope::kNic) text += fmt::format(" {}/{}", outlier.nic.host, outlier.nic.rail);
    if (outlier.scope == Scope::kHost) text += fmt::format(" {}", outlier.nic.host);
    if (outlier.scope == Scope::kRail) text += fmt::format(" {}", outlier.nic.rail);
    if (outlier.scope == Scope::kLeaf) text += fmt::format(" {}", outlier.leaf);
  }
  return text;
}

void slow_down(SimulatedMesh& mesh, std::optional<uint32_t> host, std::optional<uint32_t> rail, double factor) {
  for (uint32_t h = 0; h < mesh.fabric().hosts(); ++h)
    for (uint32_t r = 0; r < mesh.fabric().rail_count(); ++r)
      if (host.value_or(h) == h && rail.value_or(r) == r) mesh.nic({h, r}).send = factor;
}

TEST(Outliers, NameWhatExplainsTheMost) {
  struct Case {
    const char* what;
    uint32_t hosts_per_leaf;
    std::function<void(SimulatedMesh&)> plant;
    const char* outliers;
  };
  const Case cases[] = {
      {"nothing", 8, [](SimulatedMesh&) {}, ""},
      {"one NIC", 8, [](SimulatedMesh& mesh) { mesh.nic({4, 1}).receive = 0.5; }, "NIC 4/1"},
      {"outages of a whole rail, and a slow NIC on it", 0,
       [](SimulatedMesh& mesh) {
         for (uint32_t host = 0; host < mesh.fabric().hosts(); ++host) mesh.nic({host, 0}).flaps = 0.3;
         mesh.nic({4, 0}).send = 0.2;
       },
       "rail 0, NIC 4/0"},
      {"two NICs", 8,
       [](SimulatedMesh& mesh) {
         mesh.nic({4, 1}).receive = 0.5;
         mesh.nic({20, 3}).latency = 3;
       },
       "NIC 4/1, NIC 20/3"},
      {"two of four NICs of a host", 8,
       [](SimulatedMesh& mesh) {
         mesh.nic({4, 1}).send = 0.5;
         mesh.nic({4, 2}).send = 0.5;
       },
       "NIC 4/1, NIC 4/2"},
      {"a host", 8, [](SimulatedMesh& mesh) { slow_down(mesh, 7, {}, 0.8); }, "host 7"},
      {"a leaf's uplinks", 8, [](SimulatedMesh& mesh) { mesh.uplinks(5) = 0.5; }, "leaf 5"},
      {"a leaf and a host of it", 8,
       [](SimulatedMesh& mesh) {
         mesh.uplinks(5) = 0.5;
         slow_down(mesh, 8, {}, 0.8);
       },
       "leaf 5, host 8"},
      {"a rail", 8, [](SimulatedMesh& mesh) { slow_down(mesh, {}, 2, 0.8); }, "rail 2"},
      {"a rail with one leaf", 32, [](SimulatedMesh& mesh) { slow_down(mesh, {}, 2, 0.8); }, "leaf 2"},
      {"a rail, leaves unknown", 0, [](SimulatedMesh& mesh) { slow_down(mesh, {}, 2, 0.8); }, "rail 2"},
      {"a leaf for each NIC is no leaf", 1, [](SimulatedMesh& mesh) { slow_down(mesh, 7, 1, 0.8); }, "NIC 7/1"},
      {"a host that is down", 8,
       [](SimulatedMesh& mesh) {
         for (uint32_t rail = 0; rail < 4; ++rail) mesh.nic({9, rail}).flaps = 1;
       },
       "host 9"},
  };
  for (const Case& one : cases) {
    SimulatedMesh mesh(rail_fabric(32, 4, one.hosts_per_leaf), 11);
    one.plant(mesh);
    EXPECT_EQ(named(judge(mesh).outliers), one.outliers) << one.what;
  }
}

// Without leaves, half of a rail that is slow toward the other half is not put down to a leaf.
TEST(Outliers, OnLeavesNeedTheTopology) {
  SimulatedMesh mesh(rail_fabric(32, 1, 8), 11);
  mesh.uplinks(1) = 0.5;
  const MeshResults results = mesh.run(mesh.full());
  Fabric unknown = mesh.fabric();
  for (Endpoint& endpoint : unknown.endpoints) endpoint.ports[0].leaf.reset();
  MeshResults without = *MeshResults::make(unknown, results.schedule());
  for (const auto& [round, pairs] : results.rounds()) without.put_round(round, pairs);
  const auto outliers = find_outliers(unknown, analyse(without, {.min_latency_increase = 1}), {});
  EXPECT_EQ(outliers.size(), 8U);
  for (const Outlier& outlier : outliers) EXPECT_EQ(outlier.scope, Scope::kNic);
}

RC_GTEST_PROP(SecondPass, PairsSuspectsWithGoodPartnersOneAtATime, ()) {
  const auto hosts = *rc::gen::inRange<uint32_t>(4, 32);
  SimulatedMesh mesh(rail_fabric(hosts, 2, *rc::gen::element<uint32_t>(0, 4, 8)), *rc::gen::arbitrary<uint64_t>());
  std::set<Nic> bad;
  for (uint32_t i = 0; i < *rc::gen::inRange<uint32_t>(1, 3); ++i) {
    const Nic nic{*rc::gen::inRange<uint32_t>(0, hosts), *rc::gen::inRange<uint32_t>(0, 2)};
    mesh.nic(nic).send = 0.6;
    bad.insert(nic);
  }
  const Outcome outcome = judge(mesh);
  std::set<RetestPair> seen;
  for (const auto& round : outcome.second.rounds) {
    std::set<Nic> busy;
    RC_ASSERT(!round.empty());
    for (const RetestPair& pair : round) {
      RC_ASSERT(busy.insert(pair.suspect).second);
      RC_ASSERT(busy.insert(pair.partner).second);
      RC_ASSERT(seen.insert(pair).second);
      RC_ASSERT(pair.suspect.rail == pair.partner.rail);
      RC_ASSERT(!outcome.analysis.of(pair.partner).suspect());
      RC_ASSERT(!bad.contains(pair.partner));
    }
  }
}

TEST(SecondPass, SaysWhoHasNoPartner) {
  SimulatedMesh mesh(rail_fabric(4, 2, 0), 3);
  slow_down(mesh, {}, 1, 0.5);
  const Outcome outcome = judge(mesh);
  EXPECT_EQ(named(outcome.outliers), "rail 1");
  EXPECT_TRUE(outcome.second.rounds.empty());
  EXPECT_EQ(outcome.second.without_partner, (std::vector<Nic>{{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
}

TEST(SecondPass, ConfirmsWhatIsSlowAgainAndSaysWhere) {
  SimulatedMesh mesh(rail_fabric(32, 2, 8), 3);
  mesh.uplinks(1) = 0.5;
  Outcome outcome = judge(mesh);
  conclude(mesh.fabric(), outcome.analysis, mesh.retest(outcome.second), outcome.outliers);
  ASSERT_EQ(named(outcome.outliers), "leaf 1");
  EXPECT_EQ(outcome.outliers[0].retest, RetestOutcome::kConfirmed);
  EXPECT_EQ(outcome.outliers[0].between_leaves, (RetestCount{.pairs = 24, .bad = 24}));
  EXPECT_EQ(outcome.outliers[0].within_leaf, (RetestCount{}));  // no host there is known to be good
}

TEST(SecondPass, DoesNotReproduceWhatIsOver) {
  SimulatedMesh mesh(rail_fabric(16, 1, 0), 3);
  mesh.nic({2, 0}).send = 0.5;
  mesh.nic({9, 0}).flaps = 0.5;
  Outcome outcome = judge(mesh);
  mesh.nic({2, 0}) = {};
  mesh.nic({9, 0}) = {};
  ASSERT_EQ(named(outcome.outliers), "NIC 2/0, NIC 9/0");
  conclude(mesh.fabric(), outcome.analysis, mesh.retest(outcome.second), outcome.outliers);
  EXPECT_EQ(outcome.outliers[0].retest, RetestOutcome::kNotReproduced);
  EXPECT_EQ(outcome.outliers[1].retest, RetestOutcome::kNotRetested);  // outages come and go
}

TEST(OutlierLines, NameTheOutliers) {
  Fabric fabric = rail_fabric(3, 2, 0);
  fabric.endpoints[1].host = "a\x1b[31m";
  fabric.leaves = {"leaf-a"};
  Analysis analysis;
  analysis.rails = 2;
  analysis.nics.resize(6);
  for (NicFigures& nic : analysis.nics) nic.tried = 2;
  const std::vector<Outlier> outliers = {
      {.scope = Scope::kLeaf,
       .suspects = {{0, 0}, {1, 0}},
       .evidence = {{Symptom::kSlowSend, 195.5, 391, 15, 16}, {Symptom::kSlowLatency, 6.4, 3.2, 16, 16}},
       .within_leaf = {3, 0},
       .between_leaves = {24, 24},
       .retest = RetestOutcome::kConfirmed},
      {.scope = Scope::kHost, .nic = {1, 0}, .evidence = {{Symptom::kUnreachable, 1, 0, 8, 8}}},
      {.scope = Scope::kNic,
       .nic = {2, 1},
       .evidence = {{Symptom::kSlowReceive, 350, 391, 1, 1}},
       .within_leaf = {3, 0},
       .retest = RetestOutcome::kNotReproduced},
      {.scope = Scope::kRail, .nic = {0, 1}, .evidence = {{Symptom::kOutages, 0.126, 0, 3, 3}}, .within_leaf = {4, 0}},
  };
  EXPECT_EQ(
      outlier_lines(fabric, analysis, outliers, {}),
      (std::vector<std::string>{
          "WHAT  NAME         SYMPTOM               MEASURED                               NICS      RETEST",
          "leaf  leaf-a       sends slowly          195.5 of 391.0 Gb/s (-50 %)            15 of 16  "
          "confirmed: 0 of 3, 24 of 24 with other leaves",
          "                   slow to answer (p50)  6.40 us, the median is 3.20 us (2.0x)  16 of 16",
          "host  a\\x1b[31m    unreachable           100 % of its pairs                     8 of 8    not retested",
          "NIC   host2 rail1  receives slowly       350.0 of 391.0 Gb/s (-10 %)            1 of 1    "
          "not reproduced: 0 of 3",
          "rail  rail1        outages               13 % of its pairs                      3 of 3    "
          "not seen again: 0 of 4",
      }));
  EXPECT_EQ(outlier_lines(fabric, analysis, {}, {}),
            (std::vector<std::string>{"no outliers among 6 NICs (thresholds: 4 % bandwidth loss, p50 above 1.25x and "
                                      "p99 above 2.00x of the median, outages with 2 partners)"}));
  for (NicFigures& nic : analysis.nics) nic.tried = 0;
  EXPECT_EQ(outlier_lines(fabric, analysis, {}, {}), (std::vector<std::string>{"no verdict: nothing was measured"}));
}

TEST(CoverageLines, SayWhatWasNotMeasured) {
  SimulatedMesh mesh(rail_fabric(4, 2, 0), 3);
  MeshResults results = mesh.run(mesh.full());
  EXPECT_EQ(coverage_lines(results),
            (std::vector<std::string>{"4 hosts, 2 rails, full, same-rail: 12 of 12 pairs of NICs measured"}));
  results.put({0, 0, 0}, failed_pair(1));
  results.put({1, 0, 0}, skipped_pair());
  results.put({2, 0, 0}, PairResult());
  results.lose({.host = 0, .round = 3, .reason = "no heartbeat\n"});
  EXPECT_EQ(coverage_lines(results),
            (std::vector<std::string>{"4 hosts, 2 rails, full, same-rail: 9 of 12 pairs of NICs measured",
                                      "not measured: 1 failed, 1 skipped, 1 not run",
                                      "lost: host0 from round 3 on: no heartbeat\\x0a"}));
}

TEST(Bands, AreReadAndRefused) {
  EXPECT_EQ(*parse_bands("bw>=360,p50<=3.5,p99<=20"), (Bands{360, 3.5, 20}));
  EXPECT_EQ(*parse_bands("p99<=20"), (Bands{{}, {}, 20}));
  const std::string hint = "\n  use e.g. bw>=360,p50<=3.5,p99<=20: Gb/s and microseconds";
  const std::pair<const char*, std::string> cases[] = {
      {"", "--expect: \"\" is not a band" + hint},
      {"bw>=360,", "--expect: \"\" is not a band" + hint},
      {"bw<=360", "--expect: \"bw<=360\" is not a band" + hint},
      {"bw>=", "--expect: \"bw>=\" is not a band" + hint},
      {"bw>=-1", "--expect: \"bw>=-1\" is not a band" + hint},
      {"bw>=nan", "--expect: \"bw>=nan\" is not a band" + hint},
      {"bw>=inf", "--expect: \"bw>=inf\" is not a band" + hint},
      {"bw>=0", "--expect: \"bw>=0\" is not a band" + hint},
      {"p50<=3us", "--expect: \"p50<=3us\" is not a band" + hint},
      {"p50<=3,p50<=4", "--expect: duplicate p50<="},
  };
  for (const auto& [text, message] : cases) {
    const auto bands = parse_bands(text);
    ASSERT_FALSE(bands.has_value()) << text;
    EXPECT_EQ(bands.error().to_string(), message);
  }
}

TEST(Bands, ReportAFabricThatIsSlowEverywhere) {
  SimulatedMesh mesh(rail_fabric(4, 2, 0), 3);
  slow_down(mesh, {}, {}, 0.5);
  const Analysis analysis = analyse(mesh.run(mesh.full()), {});
  EXPECT_TRUE(find_outliers(mesh.fabric(), analysis, {}).empty());
  const auto found = out_of_bands(analysis, *parse_bands("bw>=360,p50<=3"));
  EXPECT_EQ(found.size(), 16U);  // all NICs, sending and receiving
  EXPECT_TRUE(out_of_bands(analysis, *parse_bands("bw>=180,p50<=3,p99<=5")).empty());
  EXPECT_EQ(band_lines(mesh.fabric(), {{{1, 0}, Metric::kSend, 195.52, 360}, {{1, 1}, Metric::kTail, 7.123, 3}}),
            (std::vector<std::string>{"host1 rail0: sends 195.5 Gb/s, expected are at least 360.0 Gb/s",
                                      "host1 rail1: round trip p99 7.12 us, expected are at most 3.00 us"}));
  EXPECT_EQ(band_lines(mesh.fabric(), std::vector<OutOfBand>(60)).back(), "and 10 more");
}

TEST(Comparison, ReportsWhoIsWorseThanBefore) {
  SimulatedMesh before(rail_fabric(16, 2, 0), 3);
  before.nic({3, 1}).send = 0.5;  // slow as ever is no change
  Fabric fabric = rail_fabric(16, 2, 0);
  fabric.endpoints[15].host = "newcomer";
  std::swap(fabric.endpoints[3].host, fabric.endpoints[4].host);  // hosts are the same by name
  SimulatedMesh now(fabric, 4);
  now.nic({4, 1}).send = 0.5;
  now.nic({7, 0}).receive = 0.8;
  const Analysis old_analysis = analyse(before.run(before.full()), {});
  const Analysis analysis = analyse(now.run(now.full()), {});
  const Comparison comparison = compare({now.fabric(), analysis}, {before.fabric(), old_analysis}, {});
  ASSERT_EQ(comparison.worse.size(), 1U);
  EXPECT_EQ(comparison.worse[0].nic, (Nic{7, 0}));
  EXPECT_EQ(comparison.worse[0].metric, Metric::kReceive);
  EXPECT_NEAR(comparison.worse[0].now, 391 * 0.8, 3);
  EXPECT_NEAR(comparison.worse[0].before, 391, 4);
  EXPECT_EQ(comparison_lines(fabric, {.worse = {{{7, 0}, Metric::kReceive, 390.96, 312.8}},
                                      .new_hosts = comparison.new_hosts,
                                      .gone_hosts = comparison.gone_hosts}),
            (std::vector<std::string>{"host7 rail0: receives 312.8 Gb/s, was 391.0 Gb/s",
                                      "not in the baseline: newcomer", "only in the baseline: host15"}));
}

TEST(Comparison, ARunIsCleanWhereNoNicIsWorse) {
  SimulatedMesh mesh(rail_fabric(4, 2, 0), 3);
  const MeshRun run = analysed(mesh.run(mesh.full()), {});
  const auto clean = [&](const HeldAgainst& against) { return is_clean(run, against); };
  EXPECT_TRUE(clean({}));
  EXPECT_TRUE(clean({.comparison = Comparison{.new_hosts = {"host9"}}}));
  EXPECT_FALSE(clean({.comparison = Comparison{.worse = {{{1, 0}, Metric::kSend, 391, 312}}}}));
  EXPECT_TRUE(clean({.bands = Bands{}}));
  EXPECT_FALSE(clean({.bands = Bands{}, .out_of_bands = {{{1, 0}, Metric::kSend, 195.52, 360}}}));
}

TEST(Comparison, ReportsAFabricThatBecameSlowAsAWhole) {
  SimulatedMesh before(rail_fabric(8, 1, 0), 3);
  SimulatedMesh now(rail_fabric(8, 1, 0), 4);
  slow_down(now, {}, {}, 0.8);
  const Analysis old_analysis = analyse(before.run(before.full()), {});
  const Analysis analysis = analyse(now.run(now.full()), {});
  EXPECT_EQ(compare({now.fabric(), analysis}, {before.fabric(), old_analysis}, {}).worse.size(), 16U);
  EXPECT_EQ(compare({before.fabric(), old_analysis}, {now.fabric(), analysis}, {}), Comparison{});
}

}  // namespace
}  // namespace railbed::perf::mesh
