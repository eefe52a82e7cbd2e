// SPDX-License-Identifier: Apache-2.0
// Whatever the cluster, and wherever the operator is killed: bounds hold, nothing else is evicted, each job is
// interrupted once, and every node ends unless something blocks it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "drain/test_simulator.h"

namespace railbed::drain {
namespace {

using testing::big_cluster;
using testing::SimNode;
using testing::SimPool;
using testing::Simulator;
using testing::Workload;

int number(int low, int high) {
  return *rc::gen::inRange(low, high + 1);
}

Bound arbitrary_bound() {
  switch (number(0, 2)) {
    case 0:
      return {.number = number(1, 3)};
    case 1:
      return {.percent = number(1, 100)};
    default:
      return {};
  }
}

Simulator arbitrary_cluster() {
  Simulator out;
  const int jobs = number(1, 4);
  for (int i = 0; i < jobs; ++i) out.workloads[fmt::format("job{}", i)].together = true;
  for (int i = 0; i < 2; ++i) out.workloads[fmt::format("web{}", i)] = {};
  const int pools = number(1, 3);
  for (int p = 0; p < pools; ++p) {
    SimPool& pool = out.pools.emplace_back(SimPool{.name = fmt::format("pool{}", p), .bound = arbitrary_bound()});
    const int nodes = number(1, 5);
    for (int n = 0; n < nodes; ++n) {
      SimNode& node = pool.nodes.emplace_back(SimNode{.name = fmt::format("p{}n{}", p, n)});
      for (auto& [name, workload] : out.workloads)
        for (int i = number(0, 1); i > 0; --i) out.place(node, name, workload.replicas++);
      if (number(0, 2) == 0) out.place_other(node, fmt::format("other{}{}", p, n));
    }
  }
  return out;
}

void expect_each_once(const Simulator& cluster) {
  RC_ASSERT(cluster.violations == std::vector<std::string>{});
  for (const auto& [name, workload] : cluster.workloads) {
    RC_ASSERT(workload.interruptions <= 1);
    for (const auto& [replica, times] : workload.evicted) RC_ASSERT(times <= 1);
  }
}

RC_GTEST_PROP(DrainProperty, EveryNodeEndsAndEachJobIsInterruptedOnce, ()) {
  Simulator cluster = arbitrary_cluster();
  RC_ASSERT(cluster.run(600));
  expect_each_once(cluster);
  for (const auto& [uid, times] : cluster.sent) RC_ASSERT(times == 1);
}

RC_GTEST_PROP(DrainProperty, AKilledOperatorComesToTheSameEnd, ()) {
  Simulator cluster = arbitrary_cluster();
  for (int kill = 0; kill < 5; ++kill) {
    cluster.kill_after = number(0, 12);
    cluster.run(number(1, 10));
  }
  cluster.kill_after.reset();
  RC_ASSERT(cluster.run(600));
  expect_each_once(cluster);
  for (const auto& [uid, times] : cluster.sent) RC_ASSERT(times <= 1 + cluster.kills);
}

RC_GTEST_PROP(DrainProperty, WhatBlocksStopsItsNodesOnly, ()) {
  Simulator cluster = arbitrary_cluster();
  cluster.limits.per_node = std::chrono::seconds(60);
  cluster.workloads.at("web0").never_evicted = true;
  std::set<std::string> blocked;
  for (const SimPool& pool : cluster.pools)
    for (const SimNode& node : pool.nodes)
      for (const DrainPod& pod : node.pods)
        if (pod.name.starts_with("web0-")) blocked.insert(node.name);
  cluster.run(600);
  RC_ASSERT(cluster.violations == std::vector<std::string>{});
  for (const SimPool& pool : cluster.pools)
    for (const SimNode& node : pool.nodes) RC_ASSERT(node.changed != blocked.contains(node.name));
}

RC_GTEST_PROP(DrainProperty, TheSameStepTwiceIsTheSame, ()) {
  NodeDrain state{.phase = static_cast<Phase>(number(0, 5)),
                  .change = number(0, 1) ? "a" : "",
                  .since = Time(std::chrono::seconds(100)),
                  .started = Time(std::chrono::seconds(100)),
                  .boot_id = "boot"};
  if (number(0, 1)) state.resources = {"r"};
  NodeObserved seen{.now = Time(std::chrono::seconds(number(100, 2000))),
                    .change = number(0, 1) ? "a" : "",
                    .resources = {"r"},
                    .turn = {.kind = static_cast<Turn::Kind>(number(0, 4)), .may_change = number(0, 1) == 0},
                    .withdrawn = number(0, 1) == 0,
                    .boot_id = number(0, 1) ? "boot" : "next",
                    .tainted = number(0, 1) == 0};
  if (number(0, 1)) seen.pods = {{.ns = "ns", .name = "a", .uid = "1"}};
  const Step once = step(state, seen);
  RC_ASSERT(step(state, seen) == once);
  RC_ASSERT(*read_node_drain(to_text(once.next)) == once.next);
  for (const Action& action : once.actions)
    if (action.kind == Action::Kind::kEvict) RC_ASSERT(seen.withdrawn && action.uid == "1");
}

// How long it takes, the benchmark measures: other builds run beside the tests.
TEST(DrainSimulation, OfAThousandNodesInTenPools) {
  Simulator cluster = big_cluster(10, 100, 16, {.percent = 10});
  EXPECT_TRUE(cluster.run(400));
  EXPECT_EQ(cluster.violations, std::vector<std::string>{});
  EXPECT_LE(cluster.most_at_once, 10u);
  for (const auto& [name, workload] : cluster.workloads) {
    EXPECT_EQ(workload.interruptions, workload.together ? 1 : 0) << name;
    for (const auto& [replica, times] : workload.evicted) EXPECT_EQ(times, 1) << name << " " << replica;
  }
  EXPECT_LE(cluster.stores + cluster.evictions, 12 * 1000);
}

TEST(DrainSimulation, OneNodeAlone) {
  Simulator cluster = big_cluster(1, 1, 1, {.number = 1});
  EXPECT_TRUE(cluster.run(30));
  EXPECT_EQ(cluster.violations, std::vector<std::string>{});
  EXPECT_EQ(cluster.workloads.at("job0x0").interruptions, 1);
}

TEST(DrainSimulation, ABoundOfZeroEvictsNothing) {
  Simulator cluster = big_cluster(1, 4, 2, {.number = 0});
  EXPECT_FALSE(cluster.run(30));
  EXPECT_EQ(cluster.evictions, 0);
  EXPECT_EQ(cluster.stores, 0);
}

TEST(DrainSimulation, AnAgentThatAppliesNothingStopsItsNodeOnly) {
  Simulator cluster = big_cluster(1, 4, 1, {.number = 1});
  cluster.limits.per_node = std::chrono::seconds(60);
  cluster.pools[0].nodes[0].stuck = true;
  cluster.run(120);
  EXPECT_FALSE(cluster.pools[0].nodes[0].changed);
  for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(cluster.pools[0].nodes[i].changed) << i;
  EXPECT_EQ(read_node_drain(cluster.pools[0].nodes[0].stored)->why,
            "not done after 60 s: the agent has not applied the change");
}

}  // namespace
}  // namespace railbed::drain
