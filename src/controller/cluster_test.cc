// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster.h"

#include <gtest/gtest.h>

#include "controller/test_cluster.h"
#include "kube/fake/clock.h"

namespace railbed::controller {
namespace {

// A row in another place than its enumerator would answer for another kind.
TEST(ClusterKinds, StandInTheOrderOfTheirEnumerators) {
  kube::fake::ApiServer server;
  kube::fake::FakeClock clock;
  kube::Client client(server, clock);
  const Cluster cluster(client, "op");
  const auto healths = cluster.healths();
  ASSERT_EQ(healths.size(), kKnownKinds + kOptionalKinds);
  const auto name_of = [&](OptionalKind kind) { return cluster.status(kind).name; };
  EXPECT_EQ(healths[static_cast<size_t>(Known::kPolicies)].first, "SriovNetworkNodePolicy");
  EXPECT_EQ(healths[static_cast<size_t>(Known::kNodeStates)].first, "SriovNetworkNodeState");
  EXPECT_EQ(healths[static_cast<size_t>(Known::kNodes)].first, "Node");
  EXPECT_EQ(name_of(OptionalKind::kNetworks), "SriovNetwork");
  EXPECT_EQ(name_of(OptionalKind::kIbNetworks), "SriovIBNetwork");
  EXPECT_EQ(name_of(OptionalKind::kDefinitions), "NetworkAttachmentDefinition");
  EXPECT_EQ(name_of(OptionalKind::kOperatorConfigs), "SriovOperatorConfig");
  EXPECT_EQ(name_of(OptionalKind::kPoolConfigs), "SriovNetworkPoolConfig");
  EXPECT_EQ(healths[static_cast<size_t>(Known::kNamespaces)].first, "Namespace");
  EXPECT_EQ(healths[static_cast<size_t>(Known::kUpstreamOperators)].first, "Pod of the SR-IOV operator");
  EXPECT_EQ(healths[static_cast<size_t>(Known::kUpstreamDaemons)].first, "Pod of the config daemon");
  EXPECT_NE(cluster.missing().find("Node: not listed yet"), std::string::npos);
  EXPECT_EQ(cluster.missing().find("SriovIBNetwork"), std::string::npos) << "the operator works without it";
  EXPECT_FALSE(cluster.objects(OptionalKind::kIbNetworks).has_value()) << "a list that is not known is not empty";
}

}  // namespace
}  // namespace railbed::controller
