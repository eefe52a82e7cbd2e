// SPDX-License-Identifier: Apache-2.0
// What holds for every machine and every set of policies: carried out once, a plan leaves nothing to do;
// killed anywhere, the next one ends the same; VFs of pods are not touched; the way back leads back.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/format.h"
#include "graph/examples.h"
#include "plan/arbitrary.h"
#include "plan/baseline.h"
#include "plan/plan.h"
#include "plan/simulate.h"
#include "plan/test_plan.h"
#include "plan/vf_identity.h"

namespace railbed::plan {
namespace {

// As apply stores it before the first change.
PfBaseline baseline_of(const facts::Nic& nic) {
  PfBaseline baseline{.pf = nic.pci.address,
                      .pf_name = graph::pf_name(nic),
                      .num_vfs = nic.num_vfs,
                      .autoprobe = nic.vfs_autoprobe.value_or(true),
                      .eswitch_mode = nic.eswitch_mode};
  if (!nic.netdevs.empty()) {
    baseline.mtu = nic.netdevs.front().mtu;
    baseline.up = nic.netdevs.front().admin_up.value_or(false);
  }
  for (const facts::Vf& vf : nic.vfs)
    baseline.vfs.push_back({vf.index, vf.pci.driver, vf.netdev ? vf.netdev->mtu : 0, vf.admin_mac});
  return baseline;
}

using namespace graph::examples;

size_t step_count(const NodePlan& plan) {
  size_t steps = 0;
  for (const PfPlan& pf : plan.pfs) steps += pf.steps.size();
  return steps;
}

RC_GTEST_PROP(PlanProperty, CarriedOutOnceThereIsNothingToDo, ()) {
  const auto objects = arbitrary_objects();
  const auto before = arbitrary_node();
  const auto after = simulate(planned(objects, before), before);
  const NodePlan again = planned(objects, after);
  RC_ASSERT(!again.changes());
}

RC_GTEST_PROP(PlanProperty, KilledAnywhereTheNextOneEndsTheSame, ()) {
  const auto objects = arbitrary_objects();
  const auto before = arbitrary_node();
  const NodePlan plan = planned(objects, before);
  const auto killed = simulate(plan, before, static_cast<size_t>(between(0, static_cast<int>(step_count(plan)))));
  RC_ASSERT(simulate(planned(objects, killed), killed) == simulate(plan, before));
}

RC_GTEST_PROP(PlanProperty, StepsHaveIdsReasonsAndOneBindPerVf, ()) {
  const NodePlan plan = planned(arbitrary_objects(), arbitrary_node());
  std::set<std::string> ids;
  std::set<std::pair<PciAddress, int>> bound;
  for (const PfPlan& pf : plan.pfs)
    for (const Step& step : pf.steps) {
      RC_ASSERT(ids.insert(step.id).second);
      RC_ASSERT(!step.reason.empty());
      RC_ASSERT(!step.policy.empty());
      if (std::holds_alternative<BindVf>(step.action))
        RC_ASSERT(bound.insert({pf.pf, std::get<BindVf>(step.action).vf.value}).second);
    }
}

RC_GTEST_PROP(PlanProperty, VfsOfPodsStayAsTheyAre, ()) {
  const auto objects = arbitrary_objects();
  const auto before = arbitrary_node();
  InUse in_use;
  for (const facts::Nic& nic : before.nics)
    for (const facts::Vf& vf : nic.vfs)
      if (coin()) in_use[vf.pci.address] = "llm/p";
  const NodePlan plan = planned(objects, before, in_use);
  const auto after = simulate(plan, before);
  for (size_t i = 0; i < before.nics.size(); ++i)
    for (const facts::Vf& vf : before.nics[i].vfs) {
      if (!in_use.contains(vf.pci.address)) continue;
      RC_ASSERT(after.nics[i].num_vfs == before.nics[i].num_vfs);
      RC_ASSERT(after.nics[i].netdevs.front().mtu == before.nics[i].netdevs.front().mtu);
      RC_ASSERT(after.nics[i].vfs[static_cast<size_t>(vf.index.value)] == vf);
    }
  for (const PfPlan& pf : plan.pfs)
    for (const Step& step : pf.steps) RC_ASSERT(step.pods.empty());
  // Nothing is dropped silently: the plan holds back exactly the changes that --disrupt would make.
  const auto forced = planned(objects, before, in_use, {.disrupt = true});
  bool disturbs = false;
  for (const PfPlan& pf : forced.pfs)
    for (const Step& step : pf.steps) disturbs = disturbs || !step.pods.empty();
  RC_ASSERT(plan.held_back.empty() == !disturbs);
  RC_ASSERT(!planned(objects, simulate(forced, before), in_use, {.disrupt = true}).changes());
}

RC_GTEST_PROP(PlanProperty, PoolsAreDisjointAndExist, ()) {
  const auto before = arbitrary_node();
  const NodePlan plan = planned(arbitrary_objects(), before);
  const auto after = simulate(plan, before);
  std::set<PciAddress> seen;
  for (const auto& [resource, pool] : plan.resources)
    for (const PoolVf& entry : pool) {
      RC_ASSERT(seen.insert(entry.address).second);
      auto owner = std::ranges::find(after.nics, entry.pf, [](const facts::Nic& n) { return n.pci.address; });
      RC_ASSERT(owner != after.nics.end());
      const auto index = static_cast<size_t>(entry.index.value);
      RC_ASSERT(index < owner->vfs.size());
      RC_ASSERT(owner->vfs[index].pci.address == entry.address);
      RC_ASSERT((owner->vfs[index].pci.driver == "vfio-pci") == (entry.device_type == DeviceType::kVfioPci));
    }
}

RC_GTEST_PROP(PlanProperty, EveryShadowedPolicyNamesOneThatCountsOrIsRefused, ()) {
  const auto objects = arbitrary_objects();
  const NodePlan plan = planned(objects, arbitrary_node());
  for (const PolicyOutcome& outcome : plan.policies)
    for (const std::string& by : outcome.shadowed_by) {
      const std::string other = by.substr(0, by.find(' '));
      RC_ASSERT(other != outcome.policy);
      auto found = std::ranges::find(plan.policies, other, &PolicyOutcome::policy);
      RC_ASSERT(found != plan.policies.end());
      // The list has the winners first.
      RC_ASSERT(found < std::ranges::find(plan.policies, outcome.policy, &PolicyOutcome::policy));
    }
}

// `down` may leave derived identities where random ones were, so the comparison ignores them.
void forget_identities(facts::NodeFacts& facts) {
  for (facts::Nic& nic : facts.nics)
    for (facts::Vf& vf : nic.vfs) {
      vf.admin_mac.reset();
      vf.node_guid.reset();
      vf.port_guid.reset();
    }
}

RC_GTEST_PROP(PlanProperty, TheWayBackLeadsBack, ()) {
  auto before = arbitrary_node();
  // When VFs are recreated, a VF without a driver looks the same as one that waits for its bind.
  for (facts::Nic& nic : before.nics)
    for (facts::Vf& vf : nic.vfs)
      if (vf.pci.driver.empty()) vf.pci.driver = "vfio-pci";
  std::vector<PfBaseline> baselines;
  for (const facts::Nic& nic : before.nics) baselines.push_back(baseline_of(nic));
  const auto during = simulate(planned(arbitrary_objects(), before), before);
  const NodePlan back = plan_to_baseline(baselines, during, {});
  const auto killed = simulate(back, during, static_cast<size_t>(between(0, static_cast<int>(step_count(back)))));
  auto after = simulate(plan_to_baseline(baselines, killed, {}), killed);
  RC_ASSERT(!plan_to_baseline(baselines, after, {}).changes());
  forget_identities(before);
  forget_identities(after);
  RC_ASSERT(after == before);
}

RC_GTEST_PROP(VfIdentityProperty, NoTwoVfsOfANodeAreAlike, ()) {
  std::vector<facts::Nic> nics;
  const int count = between(2, 8);
  for (int i = 0; i < count; ++i) {
    facts::Nic made = coin() ? nic("p", i, 126) : infiniband("p", i, 126);
    if (coin()) made.pci.address.function = 1;
    // The ports of a bond share one MAC, and some NICs have none.
    for (facts::NetInterface& netdev : made.netdevs)
      if (coin()) netdev.mac = coin() ? std::optional(MacAddress{{2, 0, 0, 0, 0, 1}}) : std::nullopt;
    nics.push_back(std::move(made));
  }
  std::set<MacAddress> macs;
  std::set<Guid> guids;
  for (const facts::Nic& nic : nics) {
    const PfIdentity identity("n1", nic);
    for (int vf = 0; vf < kMaxVfs; vf += 9) {
      const MacAddress mac = identity.vf_mac(VfIndex{vf});
      RC_ASSERT((mac.bytes[0] & 3) == 2);  // local, unicast
      RC_ASSERT(macs.insert(mac).second);
      const Guid guid = identity.vf_guid(VfIndex{vf});
      RC_ASSERT((guid.value >> 56U) == 2U);
      RC_ASSERT(guids.insert(guid).second);
    }
  }
}

TEST(VfIdentity, IsStable) {
  const PfIdentity identity("n1", nic("eth0", 1));
  EXPECT_EQ(identity.vf_mac(VfIndex{3}), PfIdentity("other", nic("renamed", 1)).vf_mac(VfIndex{3}))
      << "neither the node's nor the interface's name counts where the PF has a MAC";
  EXPECT_NE(identity.vf_mac(VfIndex{3}), PfIdentity("n1", nic("eth0", 2)).vf_mac(VfIndex{3}));
  EXPECT_EQ(identity.vf_mac(VfIndex{3}).to_string(), "1a:7a:91:24:04:03") << "changed: every cluster's VFs would too";
}

TEST(VfIdentity, AddressByOffsetAndStride) {
  facts::Nic one = nic("eth0", 1);
  EXPECT_EQ(vf_address(one, VfIndex{3})->to_string(), "0000:01:10.6");
  one.vf_offset.reset();
  EXPECT_FALSE(vf_address(one, VfIndex{3}).has_value());
}

}  // namespace
}  // namespace railbed::plan
