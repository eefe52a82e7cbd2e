// SPDX-License-Identifier: Apache-2.0
#include "graph/resolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/examples.h"

namespace railbed::graph {
namespace {

using namespace examples;
using testing::ElementsAre;

struct Cluster {
  Cluster() {
    objects.policies = {policy("a", 2, {pf("eth0")}), policy("nowhere", 2, {pf("eth9")})};
    objects.networks = {network("net", "a")};
    objects.pods = {pod("near", {"net"}, "n1"), pod("far", {"net"}, "n3")};
    nodes = {node("n1", {nic("eth0", 1)}), node("n2", {nic("eth0", 1)})};
  }
  std::vector<std::string> findings(PodPlacement placement) const {
    doc::Diagnostics diagnostics;
    const Resolution made(objects, nodes, {}, placement, diagnostics);
    std::vector<std::string> lines;
    for (const doc::Diagnostic& one : diagnostics.all()) lines.push_back(one.id + " " + one.message);
    return lines;
  }

  api::Objects objects;
  std::vector<facts::NodeFacts> nodes;
};

TEST(ResolutionTest, HasAGraphForEachNodeInTheirOrder) {
  const Cluster cluster;
  doc::Diagnostics diagnostics;
  const Resolution made(cluster.objects, cluster.nodes, {.resource_prefix = "r", .soft_rdma = true},
                        PodPlacement::kChecked, diagnostics);
  ASSERT_EQ(made.graphs.size(), 2U);
  EXPECT_EQ(&made.objects, &cluster.objects);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(made.graphs[i].facts, &cluster.nodes[i]);
    EXPECT_EQ(made.graphs[i].catalog, &made.catalog);
    EXPECT_TRUE(made.graphs[i].soft_rdma);
    ASSERT_EQ(made.graphs[i].pfs.size(), 1U);
    EXPECT_EQ(made.graphs[i].pfs[0].groups[0].resource, "r/a");
  }
  ASSERT_EQ(made.graphs[0].pods.size(), 1U);
  EXPECT_EQ(made.graphs[0].pods[0].pod->key(), "llm/near");
  EXPECT_TRUE(made.graphs[1].pods.empty());
}

TEST(ResolutionTest, LooksAcrossTheNodesOnce) {
  const std::string nowhere =
      "RB-POLICY-009 policy op/nowhere matches no NIC of node n1: no NIC is called eth9 (pfNames); here are: eth0; did "
      "you mean eth0?";
  EXPECT_THAT(Cluster().findings(PodPlacement::kChecked),
              ElementsAre(nowhere, "RB-POD-004 pod llm/far is for node n3, of which there are no facts"));
  EXPECT_THAT(Cluster().findings(PodPlacement::kNotChecked), ElementsAre(nowhere));
}

TEST(ResolutionTest, WithoutNodesOnlyTheObjectsAreLookedAt) {
  Cluster cluster;
  cluster.nodes.clear();
  cluster.objects.policies.front().nic_selector = {};
  EXPECT_THAT(cluster.findings(PodPlacement::kChecked),
              ElementsAre("RB-POLICY-003 an empty nicSelector matches nothing"));
}

}  // namespace
}  // namespace railbed::graph
