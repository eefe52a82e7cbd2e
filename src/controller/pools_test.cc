// SPDX-License-Identifier: Apache-2.0
#include "controller/pools.h"

#include <gtest/gtest.h>

#include "api/placement.h"
#include "controller/test_cluster.h"

namespace railbed::controller {
namespace {

using doc::Value;
using PoolConfig = api::SriovNetworkPoolConfig;

PoolConfig pool_named(const std::string& name, const std::string& spec) {
  Value stored = testing::object("sriovnetwork.openshift.io/v1", "SriovNetworkPoolConfig", "op", name);
  stored.set("spec", testing::json(spec));
  doc::Diagnostics found;
  std::optional<PoolConfig> pool = api::parse_pool_config(stored, found);
  EXPECT_TRUE(pool.has_value()) << spec;
  return pool.value_or(PoolConfig{});
}

std::vector<PoolNode> four_nodes() {
  return {{"n1", {{"rack", "a"}}}, {"n2", {{"rack", "a"}}}, {"n3", {{"rack", "b"}}}, {"n4", {}}};
}

constexpr const char* kRackA = R"({"maxUnavailable": 1, "nodeSelector": {"matchLabels": {"rack": "a"}}})";

TEST(PoolAssignments, GiveEachNodeOnePoolOrNone) {
  const PoolConfig pools[] = {
      pool_named("a", kRackA),
      pool_named("b",
                 R"({"nodeSelector": {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["b"]}]}})"),
      pool_named("ovs", R"({"ovsHardwareOffloadConfig": {"name": "mcp"}})")};
  const PoolAssignments made = pool_assignments(four_nodes(), pools);
  EXPECT_EQ(made.pool_of, (std::map<std::string, std::string>{{"n1", "op/a"}, {"n2", "op/a"}, {"n3", "op/b"}}));
  EXPECT_EQ(made.members.at("op/a").nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_FALSE(made.members.contains("op/ovs")) << "it selects no nodes of its own";
  EXPECT_EQ(made.in_no_pool, std::vector<std::string>{"n4"});
  EXPECT_TRUE(made.in_two_pools.empty());
}

TEST(PoolAssignments, ANodeInTwoPoolsIsInNeither) {
  const PoolConfig pools[] = {pool_named("a", kRackA), pool_named("all", R"({"maxUnavailable": 1})"),
                              pool_named("none", R"({"nodeSelector": {"matchLabels": {"rack": "z"}}})"),
                              pool_named("not-b", R"({"nodeSelector": {"matchExpressions":
                                  [{"key": "rack", "operator": "NotIn", "values": ["a", "b"]}]}})")};
  const PoolAssignments made = pool_assignments(four_nodes(), pools);
  EXPECT_EQ(made.in_two_pools, (std::vector<std::string>{"n1", "n2", "n4"}));
  EXPECT_EQ(made.members.at("op/a").shared.at("n1"), std::vector<std::string>{"op/all"});
  EXPECT_EQ(made.members.at("op/all").shared.at("n4"), std::vector<std::string>{"op/not-b"})
      << "a label that is absent is in no list";
  EXPECT_EQ(made.members.at("op/all").nodes, std::vector<std::string>{"n3"});
  EXPECT_EQ(made.members.at("op/none"), PoolMembers{});
  EXPECT_TRUE(made.in_no_pool.empty());
}

// Whatever the pools are, each node is in exactly one of the three.
TEST(PoolAssignments, LoseNoNode) {
  const std::vector<std::string> specs{kRackA, R"({})", R"({"nodeSelector": {"matchLabels": {"rack": "b"}}})",
                                       R"({"nodeSelector": {}})", R"({"ovsHardwareOffloadConfig": {"name": "x"}})"};
  for (unsigned chosen = 0; chosen < 1U << specs.size(); ++chosen) {
    std::vector<PoolConfig> pools;
    for (size_t i = 0; i < specs.size(); ++i)
      if ((chosen >> i & 1U) != 0) pools.push_back(pool_named("p" + std::to_string(i), specs[i]));
    const PoolAssignments made = pool_assignments(four_nodes(), pools);
    EXPECT_EQ(made.pool_of.size() + made.in_two_pools.size() + made.in_no_pool.size(), 4u) << chosen;
  }
}

TEST(PoolLimit, OfAPercentageIsNeverNoneUnlessItSaysSo) {
  const struct {
    std::optional<api::MaxUnavailable> written;
    size_t nodes;
    std::optional<int> most;
    const char* why;
  } cases[] = {
      {std::nullopt, 5, std::nullopt, "maxUnavailable is not set"},
      {api::MaxUnavailable{2, false}, 5, 2, ""},
      {api::MaxUnavailable{9, false}, 5, 9, ""},
      {api::MaxUnavailable{0, false}, 5, 0, "maxUnavailable is 0"},
      {api::MaxUnavailable{0, true}, 5, 0, "maxUnavailable is 0%"},
      {api::MaxUnavailable{10, true}, 5, 1, "10% of 5 nodes is less than one"},
      {api::MaxUnavailable{99, true}, 1, 1, "99% of 1 node is less than one"},
      {api::MaxUnavailable{50, true}, 5, 2, ""},
      {api::MaxUnavailable{100, true}, 5, 5, ""},
      {api::MaxUnavailable{100, true}, 5000, 5000, ""},
      {api::MaxUnavailable{1, true}, 0, 1, ""},
  };
  for (const auto& one : cases) {
    const PoolLimit limit = limit_of(one.written, one.nodes);
    EXPECT_EQ(limit.most, one.most) << one.nodes;
    EXPECT_EQ(limit.why, one.why) << one.nodes;
  }
}

TEST(PoolReadiness, SaysWhatCountsAndWhatDoesNot) {
  const PoolMembers two{.nodes = {"n1", "n2"}, .shared = {}};
  const PoolMembers shared{.nodes = {"n2"}, .shared = {{"n1", {"op/b"}}}};
  const struct {
    const char* spec;
    PoolMembers members;
    const char* condition;
  } cases[] = {
      {kRackA, two, "True Used: 2 nodes, at most 1 at once"},
      {"{}", two, "True Used: 2 nodes, all at once (maxUnavailable is not set)"},
      {R"({"maxUnavailable": "10%"})", two, "True Used: 2 nodes, at most 1 at once (10% of 2 nodes is less than one)"},
      {R"({"maxUnavailable": 0})", two, "True Used: 2 nodes, and no pod is evicted (maxUnavailable is 0)"},
      {kRackA, {}, "False NoNodeMatches: its nodeSelector matches no node"},
      {kRackA, shared,
       "False NodesInTwoPools: n1 is also in op/b: nothing is interrupted there until one nodeSelector leaves it out; "
       "beside them 1 node, at most 1 at once"},
      {R"({"maxUnavailable": 1, "rdmaMode": "shared"})", two, "True Used: 2 nodes, at most 1 at once"},
      {R"({"maxUnavailable": 1, "rdmaMode": "exclusive"})", two,
       "False RdmaModeDiffers: rdmaMode exclusive is not in effect on n1: railbed does not change it; set `options "
       "ib_core netns_mode=0` in /etc/modprobe.d and reboot; 2 nodes, at most 1 at once"},
      {R"({"maxUnavailable": 1, "tomorrow": true})", two,
       "True UsedInPart: 2 nodes, at most 1 at once; ignored: tomorrow"},
      {R"({"ovsHardwareOffloadConfig": {"name": "mcp", "otherConfig": {"a": "b"}}})",
       {},
       "False NotServed: ovsHardwareOffloadConfig mcp: railbed does not configure Open vSwitch, and such a pool says "
       "nothing of nodes; ignored: ovsHardwareOffloadConfig.otherConfig"},
  };
  for (const auto& one : cases) {
    const Readiness made = pool_readiness(pool_named("a", one.spec), one.members, {{"n1", "shared"}});
    EXPECT_EQ(fmt::format("{} {}: {}", made.status, made.reason, made.message), one.condition);
  }
}

TEST(PoolReadiness, NamesAFewOfManyNodes) {
  EXPECT_EQ(some_of({"a"}), "a");
  EXPECT_EQ(some_of({"a", "b", "c", "d", "e", "f", "g"}), "a, b, c, d, e and 2 more");
}

}  // namespace
}  // namespace railbed::controller
