// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/results.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "perf/mesh/test_mesh.h"

namespace railbed::perf::mesh {
namespace {

MeshResults empty_mesh(uint32_t hosts, uint32_t rails) {
  return *MeshResults::make(rail_fabric(hosts, rails, 0), *Schedule::make({.hosts = hosts, .rail_count = rails}));
}

RC_GTEST_PROP(LogValue, IsWithinATwoThousandthOfAnOctave, ()) {
  const double value = *rc::gen::inRange<int64_t>(1, int64_t{1} << 32);
  const double back = LogValue::of(value).value();
  RC_ASSERT(std::abs(back / value - 1) < 0.00018);
}

TEST(LogValue, TakesWhatIsNoNumberForTheSmallest) {
  EXPECT_EQ(LogValue::of(std::nan("")).code(), 1);
  EXPECT_EQ(LogValue::of(-5).code(), 1);
  EXPECT_EQ(LogValue::of(0.2).value(), 1);
  EXPECT_EQ(LogValue::of(1e300).value(), 4294967296.0);
  EXPECT_FALSE(LogValue().measured());
}

TEST(PairResult, KeepsWhatAnAnalysisNeeds) {
  const PairResult result =
      compact({.forward_gbps = 391, .reverse_gbps = 12.5, .p50_us = 2.1, .p99_us = 3, .samples = 5000, .outages = 300});
  EXPECT_EQ(result.state(), PairState::kMeasured);
  EXPECT_NEAR(result.forward_mbps.value(), 391000, 70);
  EXPECT_NEAR(result.reverse_mbps.value(), 12500, 3);
  EXPECT_NEAR(result.p50_ns.value(), 2100, 1);
  EXPECT_NEAR(result.p99_ns.value(), 3000, 1);
  EXPECT_EQ(result.samples(), 4096U);
  EXPECT_EQ(result.outages, 255);
  EXPECT_TRUE(result.went_wrong());
  EXPECT_TRUE(failed_pair(0).went_wrong());
  EXPECT_FALSE(skipped_pair().went_wrong());
  EXPECT_FALSE(PairResult().went_wrong());
}

TEST(PairResult, HasNoP99OfFewerThanAThousandSamples) {
  EXPECT_FALSE(compact({.p50_us = 2, .p99_us = 3, .samples = 999}).p99_ns.measured());
  EXPECT_TRUE(compact({.p50_us = 2, .p99_us = 3, .samples = 1000}).p99_ns.measured());
  EXPECT_FALSE(compact({.p50_us = 2, .samples = 999}).forward_mbps.measured());
}

TEST(MeshResults, KeepsEachSlotApartAndIgnoresOthers) {
  MeshResults results = empty_mesh(4, 2);
  results.put({.round = 1, .pair = 1, .rail = 0}, failed_pair(3));
  results.put({.round = 3, .pair = 0, .rail = 0}, failed_pair(4));
  results.put({.round = 0, .pair = 2, .rail = 0}, failed_pair(5));
  results.put({.round = 0, .pair = 0, .rail = 2}, failed_pair(6));
  EXPECT_EQ(results.at({.round = 1, .pair = 1, .rail = 0}), failed_pair(3));
  EXPECT_EQ(results.at({.round = 1, .pair = 0, .rail = 1}), PairResult());
  EXPECT_EQ(results.at({.round = 2, .pair = 0, .rail = 0}), PairResult());
  EXPECT_EQ(results.at({.round = 1, .pair = 2, .rail = 0}), PairResult());
  EXPECT_EQ(results.rounds().size(), 1U);  // memory only for what was begun
}

TEST(MeshResults, CountsWhatALostHostSkipsAndWhatHasNoNic) {
  Fabric fabric = rail_fabric(4, 2, 0);
  fabric.endpoints[2].ports[1].there = false;
  MeshResults results = *MeshResults::make(fabric, *Schedule::make({.hosts = 4, .rail_count = 2}));
  for (uint32_t pair = 0; pair < 2; ++pair)
    for (uint32_t rail = 0; rail < 2; ++rail) {
      const HostPair hosts = results.schedule().round(0).pairs[pair];
      if (results.planned(hosts, rail, 0)) results.put({0, pair, rail}, compact({.p50_us = 1}));
    }
  results.put({1, 0, 0}, failed_pair(0));
  results.lose({.host = 3, .round = 1, .reason = "gone"});
  results.lose({.host = 3, .round = 0, .reason = "a second time"});
  // 6 pairs of hosts on rail 0, 3 without host 2 on rail 1. Host 3 has two pairs left on rail 0 (one of which was
  // tried, and failed) and one on rail 1.
  EXPECT_EQ(results.coverage(), (Coverage{.planned = 9, .measured = 3, .failed = 1, .skipped = 2, .not_run = 3}));
  EXPECT_EQ(results.lost(), (std::vector<LostHost>{{3, 1, "gone"}}));
}

TEST(Fabric, SaysWhatIsWrong) {
  Fabric no_hosts = rail_fabric(1, 1, 0);
  Fabric no_rails = rail_fabric(2, 0, 0);
  Fabric twice = rail_fabric(3, 1, 0);
  twice.endpoints[2].host = "host0";
  Fabric nameless = rail_fabric(2, 1, 0);
  nameless.rails[0] = "";
  Fabric long_name = rail_fabric(2, 1, 0);
  long_name.endpoints[0].host = std::string(254, 'x');
  Fabric ports = rail_fabric(2, 2, 0);
  ports.endpoints[1].ports.pop_back();
  Fabric bare = rail_fabric(2, 1, 0);
  bare.endpoints[1].host = "a\x1b[2Jb";
  bare.endpoints[1].ports[0].there = false;
  Fabric leaf = rail_fabric(2, 1, 1);
  leaf.endpoints[1].ports[0].leaf = 2;
  const std::pair<Fabric, const char*> cases[] = {
      {no_hosts, "a mesh needs 2 to 32768 hosts, not 1"},
      {no_rails, "a mesh needs 1 to 64 rails, not 0"},
      {twice, "two hosts of the mesh are named host0"},
      {nameless, "a rail of the mesh has no name"},
      {long_name, "the name of a host has 254 bytes; 253 is the limit"},
      {ports, "host host1 has 1 rail ports; the mesh has 2 rails"},
      {bare, "host a\\x1b[2Jb has no NIC on any rail"},
      {leaf, "a NIC of host host1 is on leaf 2; the mesh has 2 leaves"},
  };
  for (const auto& [fabric, message] : cases) {
    const auto valid = validate(fabric);
    ASSERT_FALSE(valid.has_value()) << message;
    EXPECT_EQ(valid.error().to_string(), message);
  }
}

TEST(MeshResults, WantsAScheduleOfItsFabric) {
  const auto results = MeshResults::make(rail_fabric(4, 2, 0), *Schedule::make({.hosts = 5, .rail_count = 2}));
  ASSERT_FALSE(results.has_value());
  EXPECT_EQ(results.error().to_string(), "the schedule is for 5 hosts with 2 rails, the fabric has 4 with 2");
}

}  // namespace
}  // namespace railbed::perf::mesh
