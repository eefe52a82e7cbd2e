// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "graph/examples.h"
#include "plan/simulate.h"
#include "plan/test_plan.h"

namespace railbed::plan {
namespace {

using namespace graph::examples;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> described(const NodePlan& plan) {
  std::vector<std::string> lines;
  for (const PfPlan& pf : plan.pfs)
    for (const Step& step : pf.steps) lines.push_back(pf.pf_name + ": " + describe(step));
  return lines;
}

std::vector<std::string> held(const NodePlan& plan) {
  std::vector<std::string> lines;
  for (const HeldBack& one : plan.held_back) lines.push_back(one.to_string());
  return lines;
}

NodePlan planned(std::vector<api::SriovNetworkNodePolicy> policies, const facts::NodeFacts& facts,
                 const InUse& in_use = {}, Options options = {}) {
  api::Objects objects;
  objects.policies = std::move(policies);
  doc::Diagnostics diagnostics;
  const graph::Resolution resolution(objects, {&facts, 1}, {}, graph::PodPlacement::kChecked, diagnostics);
  return make_plans(resolution, in_use, options, diagnostics).front();
}

PciAddress vf_of_pf(int bus, int vf) {
  return PciAddress{.domain = 0, .bus = static_cast<uint8_t>(bus), .device = 0, .function = 0}.plus(
      128 + 2 * static_cast<uint32_t>(vf));
}

TEST(Plan, FreshPf) {
  auto wish = policy("a", 2, {pf("eth0")});
  wish.mtu = api::given(9000);
  facts::Nic down = nic("eth0", 1);
  down.netdevs.front().admin_up = false;
  const NodePlan plan = planned({wish}, node("n1", {down}));
  EXPECT_THAT(
      described(plan),
      ElementsAre("eth0: do not bind drivers to new VFs (autoprobe off)", "eth0: raise the PF's MTU to 9000 (now 1500)",
                  "eth0: set the PF up", "eth0: create 2 VFs", "eth0: bind drivers to new VFs (autoprobe on)",
                  "eth0: VF 0: MAC 1a:7a:91:24:04:00", "eth0: VF 0: bind to the kernel's network driver",
                  "eth0: VF 0: MTU 9000", "eth0: VF 1: MAC 1a:7a:91:24:04:01",
                  "eth0: VF 1: bind to the kernel's network driver", "eth0: VF 1: MTU 9000"));
  EXPECT_TRUE(plan.changes());
  EXPECT_EQ(plan.pfs[0].steps[3].id, "0000:01:00.0/vf-count");
  EXPECT_EQ(plan.pfs[0].steps[3].reason, "policy a requests 2 VFs, found 0");
  EXPECT_EQ(plan.pfs[0].steps[9].id, "0000:01:00.0/vf1/bind");
  EXPECT_EQ(plan.pfs[0].steps[9].reason, "policy a has VFs 0-1");
  EXPECT_EQ(plan.pfs[0].steps[9].policy, "op/a");
  for (const Step& step : plan.pfs[0].steps) EXPECT_EQ(step.disturbs, Disturbs::kNothing);
  ASSERT_EQ(plan.resources.size(), 1U);
  const auto& pool = plan.resources.at("openshift.io/a");
  ASSERT_EQ(pool.size(), 2U);
  EXPECT_EQ(pool[1].address.to_string(), "0000:01:10.2");
  EXPECT_EQ(pool[1].mtu, 9000);
}

TEST(Plan, NothingToDoIsNothing) {
  const NodePlan plan = planned({policy("a", 2, {pf("eth0")})}, node("n1", {with_vfs(nic("eth0", 1), 2)}));
  EXPECT_THAT(described(plan), IsEmpty());
  EXPECT_FALSE(plan.changes());
  EXPECT_EQ(plan.resources.at("openshift.io/a").size(), 2U);
}

TEST(Plan, OnlyTheVfThatChangesIsTouched) {
  auto net = policy("net", 4, {pf("eth0", 0, 1)});
  auto user = policy("user", 4, {pf("eth0", 2, 3)});
  user.device_type = api::given(api::DeviceType::kVfioPci);
  facts::Nic there = with_vfs(nic("eth0", 1), 4);
  there.vfs[2].pci.driver = "vfio-pci";
  there.vfs[2].netdev.reset();
  const NodePlan plan = planned({net, user}, node("n1", {there}));
  EXPECT_THAT(described(plan), ElementsAre("eth0: VF 3: bind to vfio-pci (now igbvf)"));
}

// Facts of a machine whose VF went while it was read, or that were written by hand.
TEST(Plan, AVfThatTheFactsCountButDoNotListIsLeftAlone) {
  auto user = policy("user", 3, {pf("eth0")});
  user.device_type = api::given(api::DeviceType::kVfioPci);
  facts::Nic there = with_vfs(nic("eth0", 1), 3);
  there.vfs.erase(there.vfs.begin() + 1);
  const NodePlan plan = planned({user}, node("n1", {there}));
  EXPECT_THAT(described(plan),
              ElementsAre("eth0: VF 0: bind to vfio-pci (now igbvf)", "eth0: VF 2: bind to vfio-pci (now igbvf)"));
}

TEST(Plan, VfsThatNoPolicyNamesBecomeOrdinaryInterfaces) {
  const NodePlan plan = planned({policy("a", 3, {pf("eth0", 0, 0)})}, node("n1", {nic("eth0", 1)}));
  EXPECT_THAT(described(plan), Contains("eth0: VF 2: bind to the kernel's network driver"));
  EXPECT_EQ(plan.pfs[0].steps.back().reason, "policy a makes 3 VFs; no policy names this one");
  EXPECT_EQ(plan.resources.at("openshift.io/a").size(), 1U);
}

TEST(Plan, InfinibandVfsGetGuidsBeforeTheirDriver) {
  auto wish = policy("a", 1, {pf("ib0")});
  wish.link_type = api::given(api::WantedLinkType::kInfiniband);
  const NodePlan plan = planned({wish}, node("n1", {infiniband("ib0", 0x3c)}));
  const auto lines = described(plan);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[3], AllOf(HasSubstr("ib0: VF 0: node and port GUID 02"), HasSubstr(":")));
  EXPECT_EQ(lines[4], "ib0: VF 0: bind to the kernel's network driver");
  EXPECT_TRUE(plan.resources.at("openshift.io/a")[0].rdma)
      << "linkType IB implies RDMA, as the operator's webhook says";
}

TEST(Plan, AnInfinibandVfWithoutGuidIsGivenOneAndBoundAgain) {
  facts::Nic there = with_vfs(infiniband("ib0", 1), 2);
  there.vfs[1].node_guid = there.vfs[1].port_guid = Guid{};
  auto wish = policy("a", 2, {pf("ib0")});
  wish.is_rdma = api::given(true);
  const auto lines = described(planned({wish}, node("n1", {there})));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("VF 1: node and port GUID"));
  EXPECT_EQ(lines[1], "ib0: VF 1: bind to the kernel's network driver (now mlx5_core)");
}

TEST(Plan, EswitchModeChangesWhileThereAreNoVfs) {
  facts::Nic there = with_vfs(nic("eth0", 1, 8, "15b3", "1021"), 1);
  there.eswitch_mode = EswitchMode::kLegacy;
  auto wish = policy("a", 1, {pf("eth0")});
  wish.eswitch_mode = api::given(EswitchMode::kSwitchdev);
  const NodePlan plan = planned({wish}, node("n1", {there}));
  EXPECT_THAT(described(plan), ElementsAre("eth0: do not bind drivers to new VFs (autoprobe off)", "eth0: remove 1 VF",
                                           "eth0: eswitch mode switchdev", "eth0: create 1 VF",
                                           "eth0: bind drivers to new VFs (autoprobe on)", HasSubstr("VF 0: MAC"),
                                           "eth0: VF 0: bind to the kernel's network driver"));
}

TEST(InUse, ACountChangeIsHeldBackAndTheRestGoesOn) {
  facts::Nic there = with_vfs(nic("eth0", 1), 2);
  there.vfs[0].pci.driver.clear();
  there.vfs[0].netdev.reset();
  const InUse in_use{{vf_of_pf(1, 1), "llm/p"}};
  NodePlan plan = planned({policy("a", 4, {pf("eth0")})}, node("n1", {there, nic("eth1", 2)}), in_use);
  EXPECT_THAT(held(plan), ElementsAre("eth0: 4 VFs instead of 2: deferred, llm/p uses it (policy a requests 4 VFs, "
                                      "found 2)"));
  EXPECT_THAT(described(plan), ElementsAre("eth0: VF 0: bind to the kernel's network driver"));
  const auto& pool = plan.resources.at("openshift.io/a");
  ASSERT_EQ(pool.size(), 2U) << "only VFs that will exist";
  EXPECT_EQ(pool[0].held_by, "");
  EXPECT_EQ(pool[1].held_by, "llm/p");

  plan = planned({policy("a", 4, {pf("eth0")})}, node("n1", {there}), in_use, {.disrupt = true});
  EXPECT_THAT(held(plan), IsEmpty());
  const auto count = std::ranges::find(plan.pfs[0].steps, "0000:01:00.0/vf-count", &Step::id);
  ASSERT_NE(count, plan.pfs[0].steps.end());
  EXPECT_EQ(describe(*count), "remove 2 VFs, create 4 VFs");
  EXPECT_EQ(count->disturbs, Disturbs::kDrain);
  EXPECT_THAT(count->pods, ElementsAre("llm/p"));
}

TEST(InUse, AVfOfAPodIsNotReboundUnlessAsked) {
  auto user = policy("user", 2, {pf("eth0")});
  user.device_type = api::given(api::DeviceType::kVfioPci);
  const auto facts = node("n1", {with_vfs(nic("eth0", 1), 2)});
  const InUse in_use{{vf_of_pf(1, 0), "llm/p"}};
  NodePlan plan = planned({user}, facts, in_use);
  EXPECT_THAT(described(plan), ElementsAre("eth0: VF 1: bind to vfio-pci (now igbvf)"));
  EXPECT_THAT(held(plan),
              ElementsAre("eth0: VF 0: bind to vfio-pci: deferred, llm/p uses it (policy user has VFs 0-1)"));
  plan = planned({user}, facts, in_use, {.disrupt = true});
  ASSERT_EQ(plan.pfs[0].steps.size(), 2U);
  EXPECT_EQ(plan.pfs[0].steps[0].disturbs, Disturbs::kPods);
  EXPECT_EQ(plan.pfs[0].steps[1].disturbs, Disturbs::kNothing);
}

TEST(InUse, ABoundVfWithoutInterfaceBelongsToSomebody) {
  facts::Nic there = with_vfs(nic("eth0", 1), 2);
  there.vfs[1].netdev.reset();
  const NodePlan plan = planned({policy("a", 4, {pf("eth0")})}, node("n1", {there}));
  EXPECT_THAT(held(plan),
              ElementsAre("eth0: 4 VFs instead of 2: deferred, (another network namespace) uses it (policy a requests "
                          "4 VFs, found 2)"));
  EXPECT_THAT(described(plan), IsEmpty());
}

TEST(InUse, ThePfsMtuIsHeldBackAndWithItTheVfs) {
  facts::Nic there = with_vfs(nic("eth0", 1), 2);
  auto wish = policy("a", 2, {pf("eth0")});
  wish.mtu = api::given(9000);
  const NodePlan plan = planned({wish}, node("n1", {there}), {{vf_of_pf(1, 0), "llm/p"}});
  EXPECT_THAT(held(plan),
              ElementsAre("eth0: MTU 9000 instead of 1500: deferred, llm/p uses it (policy a requests MTU 9000)"));
  EXPECT_THAT(described(plan), IsEmpty());
}

TEST(Mtu, ThePfsIsOnlyRaisedTheVfsIsExact) {
  facts::Nic there = with_vfs(nic("eth0", 1), 1);
  there.netdevs.front().mtu = 9000;
  there.vfs.front().netdev->mtu = 9000;
  auto wish = policy("a", 1, {pf("eth0")});
  wish.mtu = api::given(4000);
  EXPECT_THAT(described(planned({wish}, node("n1", {there}))), ElementsAre("eth0: VF 0: MTU 4000 (now 9000)"));
}

TEST(ExternallyManaged, OnlyVfsAreConfigured) {
  facts::Nic there = with_vfs(nic("eth0", 1), 4);
  there.netdevs.front().admin_up = false;
  there.vfs[3].pci.driver.clear();
  there.vfs[3].netdev.reset();
  auto wish = policy("a", 2, {pf("eth0")});
  wish.device_type = api::given(api::DeviceType::kVfioPci);
  wish.externally_managed = api::given(true);
  EXPECT_THAT(described(planned({wish}, node("n1", {there}))),
              ElementsAre("eth0: VF 0: bind to vfio-pci (now igbvf)", "eth0: VF 1: bind to vfio-pci (now igbvf)",
                          "eth0: VF 3: bind to the kernel's network driver"));
}

TEST(Reboot, IsReportedAndNoChange) {
  auto wish = policy("a", 2, {pf("eth0")});
  wish.link_type = api::given(api::WantedLinkType::kInfiniband);
  const NodePlan plan = planned({wish}, node("n1", {nic("eth0", 1, 8, "15b3", "1021")}));
  EXPECT_THAT(described(plan), ElementsAre("eth0: needs LINK_TYPE_P1=IB and a reboot (not done by railbed)"));
  EXPECT_EQ(plan.pfs[0].steps[0].disturbs, Disturbs::kReboot);
  EXPECT_FALSE(plan.changes());
}

TEST(Pods, TheirVfsAreCounted) {
  api::Objects objects;
  objects.policies = {policy("rail0", 2, {pf("eth0")}), policy("ib", 2, {pf("ib0")})};
  objects.policies[1].is_rdma = api::given(true);
  objects.networks = {network("net", "rail0"), network("wrong", "ib"), network("unserved", "rail9")};
  objects.pods = {pod("p", {"net", "net"}), pod("q", {"unknown", "net", "wrong"}), pod("r", {"unserved"})};
  objects.pods[0].resources["openshift.io/rail0"] = 1;
  doc::Diagnostics diagnostics;
  const auto facts = node("n1", {nic("eth0", 1), infiniband("ib0", 2)});
  const graph::Resolution resolution(objects, {&facts, 1}, {}, graph::PodPlacement::kChecked, diagnostics);
  const NodePlan plan = make_plans(resolution, {}, {}, diagnostics).front();
  ASSERT_EQ(plan.pods.size(), 3U);
  EXPECT_EQ(plan.pods[0].networks[1].interface, "net2");
  EXPECT_EQ(plan.pods[0].networks[1].resource, "openshift.io/rail0");
  std::vector<std::string> messages;
  for (const auto& finding : diagnostics.all()) messages.push_back(finding.id + " " + finding.message);
  EXPECT_THAT(
      messages,
      ElementsAre("RB-NET-001 no policy creates resource openshift.io/rail9, from which network llm/unserved takes its "
                  "VFs",
                  "RB-POD-001 pod llm/q requests network llm/unknown, which does not exist",
                  "RB-POD-006 pod llm/p asks for 1 of openshift.io/rail0, its networks need 2",
                  "RB-POD-003 pod llm/q: network llm/wrong is of type sriov, the VFs of openshift.io/ib are InfiniBand",
                  "RB-POD-002 node n1 has 2 VFs of openshift.io/rail0, llm/p, llm/q need 3",
                  "RB-POD-002 node n1 has no VF of openshift.io/rail9, which llm/r needs"));
}

}  // namespace
}  // namespace railbed::plan
