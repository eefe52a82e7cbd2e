// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/reservations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_requests.h"
#include "ipam/test_ranges.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;

class PlannedPods : public Pods {
 public:
  Result<std::shared_ptr<const AddressClaims>> address_claims() override { return claims; }
  void plan_for(const std::vector<std::string>& names) {
    AddressClaims all;
    for (const std::string& name : names)
      all.push_back({.owner = {name, "net1"},
                     .network = "ns/rail",
                     .config = ipam::whereabouts({{ipam::range("10.9.0.0/24")}}),
                     .requested = {}});
    claims = std::make_shared<const AddressClaims>(std::move(all));
  }
  std::shared_ptr<const AddressClaims> claims;
};

class ReservationsTest : public testing::Test, protected RequestRig {
 protected:
  std::string take(const std::string& pod, const std::string& sandbox, const std::string& interface = "net1") {
    auto turn = engine.turn(std::chrono::seconds(1));
    auto taken = reservations.take(*turn, source, pod, {sandbox, interface});
    if (!taken) return taken.error().story();
    return taken->has_value() ? (*taken)->front().address.to_string() : "nothing";
  }
  void end(const std::string& pod, const std::string& sandbox) {
    auto turn = engine.turn(std::chrono::seconds(1));
    ASSERT_TRUE(turn->store().forget_leases(sandbox, "net1"));
    turn->addresses().release({sandbox, "net1"});
    ASSERT_TRUE(reservations.reserve(*turn, source, pod));
  }
  void put(const std::string& sandbox, const char* address) {
    const std::string pool = ipam::pool_of(source.claims->front().config, "ns/rail");
    ASSERT_TRUE(store->put_lease({pool, ipam::ip(address), sandbox, "net1"}));
  }
  std::vector<std::string> leases() {
    std::vector<std::string> lines;
    const auto all = store->all_leases();
    for (const state::AddressLease& one : *all) lines.push_back(fmt::format("{} {}", one.address, one.pod));
    return lines;
  }

  PlannedPods source;
  Reservations reservations;
};

TEST_F(ReservationsTest, WithoutAPlanTheAgentDecides) {
  EXPECT_EQ(take("ns/a", "ns/a@c"), "nothing");
  EXPECT_THAT(leases(), ElementsAre());
}

TEST_F(ReservationsTest, KeepsTheAddressesOfPodsThatAreNotThere) {
  source.plan_for({"ns/a", "ns/b"});
  EXPECT_EQ(take("ns/b", "ns/b@c"), "10.9.0.2/24");
  // The sandbox's own lease is recorded with its interface.
  EXPECT_THAT(leases(), ElementsAre("10.9.0.1 ns/a"));
  EXPECT_EQ(take("ns/other", "ns/other@c"), "nothing");
  EXPECT_EQ(take("ns/b", "ns/b@c", "net2"), "nothing");
}

TEST_F(ReservationsTest, ASandboxThatGoesLeavesItsAddressesToThePod) {
  source.plan_for({"ns/a", "ns/b"});
  EXPECT_EQ(take("ns/b", "ns/b@c"), "10.9.0.2/24");
  put("ns/b@c", "10.9.0.2");
  end("ns/b", "ns/b@c");
  EXPECT_THAT(leases(), ElementsAre("10.9.0.1 ns/a", "10.9.0.2 ns/b"));
}

TEST_F(ReservationsTest, APodThatIsNoLongerPlannedForKeepsNothing) {
  source.plan_for({"ns/a", "ns/b"});
  EXPECT_EQ(take("ns/b", "ns/b@c"), "10.9.0.2/24");
  put("ns/b@c", "10.9.0.2");
  source.plan_for({"ns/a"});
  end("ns/b", "ns/b@c");
  EXPECT_THAT(leases(), ElementsAre("10.9.0.1 ns/a"));
}

TEST_F(ReservationsTest, ANewPlanMovesNoPod) {
  source.plan_for({"ns/b"});
  EXPECT_EQ(take("ns/b", "ns/b@c"), "10.9.0.1/24");
  put("ns/b@c", "10.9.0.1");
  source.plan_for({"ns/a", "ns/b"});
  EXPECT_EQ(take("ns/a", "ns/a@d"), "10.9.0.2/24");
  EXPECT_THAT(leases(), ElementsAre("10.9.0.1 ns/b@c"));
}

}  // namespace
}  // namespace railbed::agent
