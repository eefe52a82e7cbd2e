// SPDX-License-Identifier: Apache-2.0
#include "graph/node_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/cluster_labels.h"
#include "doc/json.h"
#include "graph/examples.h"
#include "graph/objection.h"
#include "graph/resolution.h"

namespace railbed::graph {
namespace {

using namespace examples;
using testing::ElementsAre;
using testing::IsEmpty;

api::SriovNetworkNodeState state_of_node(std::vector<api::NodeStatePf> pfs) {
  api::SriovNetworkNodeState state;
  state.meta = meta("n1");
  state.pfs = std::move(pfs);
  return state;
}

api::NodeStatePf wants(int bus, int num_vfs, std::vector<api::NodeStateVfGroup> groups) {
  return {.address = {.domain = 0, .bus = static_cast<uint8_t>(bus), .device = 0, .function = 0},
          .num_vfs = num_vfs,
          .groups = std::move(groups)};
}

api::NodeStateVfGroup group(std::string policy, int first, int last) {
  return {.policy_name = policy, .resource_name = policy, .vfs = {first, last}};
}

TEST(NodeStateOfGraph, HasAGroupForEachRangeByFirstVf) {
  auto parts = policy("parts", 8, {pf("eth0", 6, 7), pf("eth0", 0, 1)}, 10);
  parts.mtu = api::given(9000);
  parts.is_rdma = api::given(true);
  parts.need_vhost_net = api::given(true);
  parts.exclude_topology = api::given(true);
  api::Objects objects;
  objects.policies = {parts, policy("rest", 8, {pf("eth0", 2, 5)}, 10)};
  const facts::NodeFacts facts = node("n1", {nic("eth0", 1)});
  doc::Diagnostics diagnostics;
  const Resolution resolution(objects, {&facts, 1}, {}, PodPlacement::kNotChecked, diagnostics);
  EXPECT_EQ(
      doc::to_json(api::node_state_spec(state_of(resolution.graphs.front()))),
      R"({"interfaces":[{"eSwitchMode":"legacy","mtu":9000,"name":"eth0","numVfs":8,"pciAddress":"0000:01:00.0","vfGroups":[)"
      R"({"deviceType":"netdevice","excludeTopology":true,"isRdma":true,"mtu":9000,"needVhostNet":true,"policyName":"parts",)"
      R"("resourceName":"parts","vfRange":"0-1"},)"
      R"({"deviceType":"netdevice","policyName":"rest","resourceName":"rest","vfRange":"2-5"},)"
      R"({"deviceType":"netdevice","excludeTopology":true,"isRdma":true,"mtu":9000,"needVhostNet":true,"policyName":"parts",)"
      R"("resourceName":"parts","vfRange":"6-7"}]}]})");
  EXPECT_EQ(orders_of(resolution.graphs.front(), {}).at(kHostPfsAllowed), "");
}

// Of a card with two ports on one function both names select, as they do on the node.
TEST(NodeStateStatus, KeepsWhatSelectorsLookAt) {
  facts::Nic card = with_vfs(nic("eth0", 1), 1);
  card.netdevs.front().alt_names = {"enp1s0"};
  card.netdevs.front().speed_mbps = 25000;
  card.netdevs.push_back(card.netdevs.front());
  card.netdevs.back().name = "eth1";
  card.netdevs.back().alt_names.clear();
  card.eswitch_mode = EswitchMode::kSwitchdev;
  const facts::NodeFacts facts = node("n1", {card, infiniband("ib0", 2), nic("plain", 3, 0)});
  api::SriovNetworkNodeState state = state_of_node({});
  state.nics = found_nics(facts);
  EXPECT_THAT(state.nics[0].alt_names, ElementsAre("enp1s0", "eth1"));
  EXPECT_EQ(state.nics[0].link_speed, "25000 Mb/s");
  EXPECT_EQ(state.nics[0].link_admin_state, "up");
  const facts::NodeFacts reported = facts_of(state, {{"zone", "a"}});
  EXPECT_EQ(reported.node, "n1");
  EXPECT_EQ(reported.labels.at("zone"), "a");
  ASSERT_EQ(reported.nics.size(), 3u);
  EXPECT_THAT(reported.nics[0].netdevs.front().alt_names, ElementsAre("enp1s0", "eth1"));
  EXPECT_EQ(reported.nics[0].eswitch_mode, EswitchMode::kSwitchdev);
  EXPECT_EQ(reported.nics[0].total_vfs, 8);
  EXPECT_EQ(reported.nics[0].num_vfs, 1);
  EXPECT_EQ(reported.nics[0].vfs.front().pci.driver, "igbvf");
  EXPECT_EQ(reported.nics[0].vfs.front().netdev->name, "eth0v0");
  EXPECT_EQ(reported.nics[1].link_type, facts::LinkType::kInfiniband);
  EXPECT_EQ(reported.nics[1].pci.vendor, "15b3");
  EXPECT_EQ(reported.nics[2].total_vfs, std::nullopt);
}

struct ByState {
  ByState(api::SriovNetworkNodeState wanted, std::vector<facts::Nic> nics, bool iommu = true)
      : state(std::move(wanted)), facts(node("n1", std::move(nics))) {
    facts.iommu = iommu;
    made.emplace(state, facts, Options{}, diagnostics);
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> out;
    for (const PolicyOutcome& one : made->graph.outcomes)
      out.push_back(
          fmt::format("{} {}{}{}", one.policy, outcome_name(one.state), one.detail.empty() ? "" : ": ", one.detail));
    return out;
  }

  api::SriovNetworkNodeState state;
  facts::NodeFacts facts;
  doc::Diagnostics diagnostics;
  std::optional<WantedState> made;
};

TEST(GraphOfNodeState, JoinsTheGroupsOfAPolicy) {
  const ByState by(state_of_node({wants(1, 8, {group("a", 0, 1), group("b", 2, 5), group("a", 6, 7)})}),
                   {nic("eth0", 1)});
  ASSERT_EQ(by.made->graph.pfs.size(), 1u);
  const PfWanted& wanted = by.made->graph.pfs.front();
  EXPECT_EQ(wanted.num_vfs, 8);
  ASSERT_EQ(wanted.groups.size(), 2u);
  EXPECT_EQ(to_string(wanted.groups[0].vfs), "0-1, 6-7");
  EXPECT_EQ(wanted.groups[0].from->policy, "op/a");
  EXPECT_EQ(wanted.groups[0].resource, "openshift.io/a");
  EXPECT_EQ(to_string(wanted.groups[1].vfs), "2-5");
  EXPECT_THAT(by.outcomes(), ElementsAre("op/a applied", "op/b applied"));
  EXPECT_THAT(by.diagnostics.all(), IsEmpty());
}

TEST(GraphOfNodeState, APolicyOfItSaysWhatItsGroupAndPfSay) {
  api::NodeStateVfGroup all = group("a", 0, 1);
  all.mtu = 4000;
  all.is_rdma = true;
  all.need_vhost_net = true;
  all.exclude_topology = true;
  api::NodeStatePf pf = wants(1, 2, {all});
  pf.mtu = 9000;
  const ByState by(state_of_node({pf}), {nic("eth0", 1)});
  ASSERT_EQ(by.made->graph.pfs.size(), 1u);
  ASSERT_EQ(by.made->graph.pfs.front().groups.size(), 1u);
  const VfGroup& policy = by.made->graph.pfs.front().groups.front();
  EXPECT_EQ(policy.from->name, "a");
  EXPECT_EQ(policy.from->place, "policy a");
  EXPECT_FALSE(policy.from->span.known());
  EXPECT_EQ(policy.resource_name, "a");
  EXPECT_EQ(policy.num_vfs, 2);
  EXPECT_EQ(policy.mtu, 4000);
  EXPECT_TRUE(policy.rdma);
  EXPECT_TRUE(policy.need_vhost_net);
  EXPECT_TRUE(policy.exclude_topology);
}

// The policy of one name may stand on several PFs with other values for each.
TEST(GraphOfNodeState, KeepsPfsApart) {
  api::NodeStatePf second = wants(2, 4, {group("a", 0, 3)});
  second.mtu = 9000;
  const ByState by(state_of_node({second, wants(1, 2, {group("a", 0, 1)})}), {nic("eth0", 1), nic("eth1", 2)});
  ASSERT_EQ(by.made->graph.pfs.size(), 2u);
  EXPECT_EQ(by.made->graph.pfs[0].name, "eth0");
  EXPECT_EQ(by.made->graph.pfs[0].num_vfs, 2);
  EXPECT_EQ(by.made->graph.pfs[0].mtu_from, nullptr);
  EXPECT_EQ(by.made->graph.pfs[1].mtu, 9000);
  EXPECT_NE(by.made->graph.pfs[1].mtu_from, nullptr);
  EXPECT_THAT(by.outcomes(), ElementsAre("op/a applied"));
}

TEST(GraphOfNodeState, RefusesWhatOnlyTheNodeCanKnow) {
  api::NodeStateVfGroup user_space = group("dpdk", 0, 1);
  user_space.device_type = DeviceType::kVfioPci;
  const ByState no_iommu(state_of_node({wants(1, 4, {user_space, group("a", 2, 3)})}), {nic("eth0", 1)}, false);
  EXPECT_THAT(no_iommu.outcomes(),
              ElementsAre("op/dpdk refused: deviceType vfio-pci requires an IOMMU, but node n1 has none enabled",
                          "op/a applied"));
  ASSERT_EQ(no_iommu.made->graph.refusals.size(), 1u);
  EXPECT_EQ(no_iommu.made->graph.refusals.front().needs_reboot, "intel_iommu=on iommu=pt");
  EXPECT_EQ(no_iommu.made->graph.pfs.front().groups.size(), 1u);

  const ByState gone(state_of_node({wants(9, 4, {group("a", 0, 1), group("a", 2, 3)})}), {nic("eth0", 1)});
  EXPECT_THAT(gone.outcomes(),
              ElementsAre("op/a refused: its node state requests VFs of 0000:09:00.0, where this node has no NIC"));

  const ByState partly(state_of_node({wants(1, 4, {group("a", 0, 1)}), wants(9, 4, {group("a", 0, 1)})}),
                       {nic("eth0", 1)});
  EXPECT_THAT(partly.outcomes(),
              ElementsAre("op/a partly: its node state requests VFs of 0000:09:00.0, where this node has no NIC"));
}

TEST(GraphOfNodeState, TakesAPfOfTheHostOnlyWhereThePolicyAllowsIt) {
  facts::Nic used = nic("eth0", 1);
  used.netdevs.front().has_default_route = true;
  api::SriovNetworkNodeState state = state_of_node({wants(1, 2, {group("a", 0, 1)})});
  const ByState refused(state, {used});
  EXPECT_THAT(refused.outcomes(),
              ElementsAre("op/a refused: eth0 (0000:01:00.0) of node n1 is in use by the host (default route); "
                          "changing it would cut that connection"));
  EXPECT_THAT(refused.made->graph.pfs, IsEmpty());
  for (const auto& [pfs, count] : std::vector<std::pair<const char*, size_t>>{
           {"0000:01:00.0", 1}, {"0000:02:00.0,0000:01:00.0", 1}, {"0000:02:00.0", 0}, {"0000:01:00.00", 0}, {"", 0}}) {
    state.meta.annotations[std::string(kHostPfsAllowed)] = api::given(doc::Value(pfs));
    EXPECT_EQ(ByState(state, {used}).made->graph.pfs.size(), count) << pfs;
  }
}

TEST(NodeStateOfGraph, ReportsThePfsOfTheHostThatMayChange) {
  api::Objects objects;
  objects.policies = {policy("a", 2, {pf("eth0"), pf("eth1")}), policy("b", 2, {pf("eth2")})};
  objects.policies[0].meta.annotations[std::string(kAllowHostPf)] = api::given(doc::Value("true"));
  const facts::NodeFacts facts = node("n1", {nic("eth0", 1), nic("eth1", 2), nic("eth2", 3)});
  doc::Diagnostics diagnostics;
  const Resolution resolution(objects, {&facts, 1}, {}, PodPlacement::kNotChecked, diagnostics);
  EXPECT_EQ(orders_of(resolution.graphs.front(), {}).at(kHostPfsAllowed), "0000:01:00.0,0000:02:00.0");
  EXPECT_EQ(orders_of(resolution.graphs.front(), {}).at(kMadResources), "");
}

TEST(NodeStateOfGraph, SaysWhichResourcesGiveManagementDatagrams) {
  api::Objects objects;
  objects.policies = {policy("a", 2, {pf("eth0")}), policy("b", 2, {pf("eth1")})};
  objects.policies[1].meta.annotations[std::string(api::kMadAnnotation)] = api::given(doc::Value("true"));
  const facts::NodeFacts facts = node("n1", {nic("eth0", 1), nic("eth1", 2)});
  doc::Diagnostics diagnostics;
  const Resolution resolution(objects, {&facts, 1}, {}, PodPlacement::kNotChecked, diagnostics);
  EXPECT_EQ(orders_of(resolution.graphs.front(), {}).at(kMadResources), "b");

  api::SriovNetworkNodeState state = state_of_node({wants(1, 2, {group("a", 0, 1)}), wants(2, 2, {group("b", 0, 1)})});
  for (const auto& [resources, gives] : std::vector<std::pair<const char*, std::vector<bool>>>{
           {"b", {false, true}}, {"a,b", {true, true}}, {"ab", {false, false}}, {"", {false, false}}}) {
    state.meta.annotations[std::string(kMadResources)] = api::given(doc::Value(resources));
    const ByState read(state, {facts.nics[0], facts.nics[1]});
    std::vector<bool> found;
    for (const PfWanted& pf : read.made->graph.pfs)
      for (const VfGroup& one : pf.groups) found.push_back(one.mad);
    EXPECT_EQ(found, gives) << resources;
  }
}

// One prefix for networks and nodes: the operator says it, and what the node was started with counts only without it.
TEST(GraphOfNodeState, NamesResourcesWithThePrefixThatTheStateSays) {
  const std::string key(api::kWantedAnnotation);
  const auto resource_with = [&](std::optional<std::string> annotation) {
    api::SriovNetworkNodeState state = state_of_node({wants(1, 2, {group("a", 0, 1)})});
    if (annotation) state.meta.annotations[key] = api::given(doc::Value(*annotation));
    const ByState by(state, {nic("eth0", 1)});
    return by.made->graph.pfs.front().groups.front().resource;
  };
  EXPECT_EQ(resource_with({}), "openshift.io/a");
  EXPECT_EQ(resource_with(R"({"resourcePrefix":"nvidia.com","version":1})"), "nvidia.com/a");
  EXPECT_EQ(resource_with("damaged"), "openshift.io/a") << "the reader of orders checks `problem` first";

  api::Objects objects;
  const facts::NodeFacts facts = node("n1", {nic("eth0", 1)});
  doc::Diagnostics diagnostics;
  const Resolution resolution(objects, {&facts, 1}, {}, PodPlacement::kNotChecked, diagnostics);
  const std::string written =
      orders_of(resolution.graphs.front(), {.resource_prefix = "nvidia.com"}).at(api::kWantedAnnotation);
  EXPECT_EQ(written, R"({"resourcePrefix":"nvidia.com","version":1})") << "also of a node without VFs";
  api::Metadata meta;
  meta.annotations[key] = api::given(doc::Value(written));
  EXPECT_EQ(orders_in(meta).resource_prefix, "nvidia.com");
  EXPECT_EQ(orders_in(meta).problem, "");
  meta.annotations[key] = api::given(doc::Value(R"({"version":3})"));
  EXPECT_EQ(orders_in(meta).problem,
            "annotation railbed.dev/wanted: its version is 3, this agent reads version 1: upgrade the agent");
}

// A reader that follows an order keeps and compares exactly what kOrders lists.
TEST(GraphOfNodeState, HasTheDrainThatTheOperatorOrders) {
  EXPECT_THAT(kOrders, testing::Contains(drain::kDrainAnnotation));
  const std::string key(drain::kDrainAnnotation);
  const drain::NodeDrain drain{
      .phase = drain::Phase::kWithdrawn, .change = "c1", .resources = {"openshift.io/a", "openshift.io/b"}};
  api::Metadata meta;
  EXPECT_EQ(orders_in(meta).drain, drain::NodeDrain{});
  meta.annotations[key] = api::given(doc::Value(drain::to_text(drain)));
  EXPECT_EQ(orders_in(meta).drain, drain);
  EXPECT_EQ(orders_in(meta).drain_problem, "");
  meta.annotations[key] = api::given(doc::Value("damaged"));
  EXPECT_EQ(orders_in(meta).drain, drain::NodeDrain{});
  EXPECT_NE(orders_in(meta).drain_problem, "");
  EXPECT_EQ(orders_in(meta).problem, "") << "the rest of the order is followed";
}

}  // namespace
}  // namespace railbed::graph
