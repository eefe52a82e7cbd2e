// SPDX-License-Identifier: Apache-2.0
// Leases beside nodes where whereabouts still gives addresses of the same ranges.
#include <gtest/gtest.h>

#include "agent/cluster/test_cells.h"
#include "kube/kinds.h"

namespace railbed::agent {
namespace {

class SharedRange : public ::testing::Test {
 protected:
  kube::fake::ApiServer server_;
  CellMachine one_{server_, "node1", "uuid-1"};
  CellMachine two_{server_, "node2", "uuid-2"};
  api::IpamConfig rail_ = one_range("10.0.0.0/28");

  void SetUp() override {
    for (CellMachine* machine : {&one_, &two_}) {
      machine->shares = true;
      machine->start_agent();
      ASSERT_TRUE(machine->leaser->sync({}).has_value());
    }
  }
  static std::string given(const Result<IpAddress>& address) {
    return address.has_value() ? address->to_string() : address.error().story();
  }
  // By whereabouts, to a pod of a node of its own.
  void whereabouts_gives(std::initializer_list<uint64_t> places, const char* range = "10.0.0.0/28") {
    const kube::ObjectKey key{"kube-system", api::ip_pool_name("", ipam::prefix(range))};
    auto object = one_.client->get(kube::kIpPools, key);
    const bool is_new = !object.has_value();
    doc::Value pool = is_new ? api::new_ip_pool(key.ns, "", ipam::prefix(range)) : *std::move(object);
    api::IpPoolChange change;
    for (const uint64_t place : places) change.put[place] = {fmt::format("container{}", place), "ns/other"};
    api::apply_change(pool, change);
    ASSERT_TRUE((is_new ? one_.client->create(kube::kIpPools, pool) : one_.client->update(kube::kIpPools, pool)));
  }
  // "1 of node1/uuid-1, 2 of ns/other": what the one pool says.
  std::string pool() {
    std::string out;
    const auto object =
        one_.client->get(kube::kIpPools, {"kube-system", api::ip_pool_name("", ipam::prefix("10.0.0.0/28"))});
    if (!object) return "no pool";
    const api::IpPool read = api::read_ip_pool(*object).value();
    for (const auto& [place, one] : read.allocations) {
      const std::string id = one.id.substr(one.id.find('/') + 1);
      out += fmt::format("{}{} of {}", out.empty() ? "" : ", ", place,
                         one.pod_ref.empty() ? id.substr(0, id.rfind('/')) : one.pod_ref);
    }
    return out;
  }
};

TEST_F(SharedRange, WhatIsGivenIsInWhereaboutsPoolFirst) {
  EXPECT_EQ(given(one_.add(rail_, "ns/a", {"10.0.0.5"})), "10.0.0.5");
  EXPECT_EQ(pool(), "5 of node1/uuid-1");
  EXPECT_EQ(given(two_.add(rail_, "ns/b", {"10.0.0.6"})), "10.0.0.6");
  EXPECT_EQ(pool(), "5 of node1/uuid-1, 6 of node2/uuid-2");
  one_.way.trouble = Way::Trouble::kAway;
  one_.way.spared = 2;  // the cell is read and leased, and then nothing is heard of its reservation
  EXPECT_FALSE(one_.add(rail_, "ns/c", {"10.0.0.7"}).has_value());
  one_.way.trouble = Way::Trouble::kNone;
  EXPECT_EQ(cells_in(server_), "10.0.0.0 node1 00a0 node2 0040");
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(cells_in(server_), "10.0.0.0 node1 0020 node2 0040") << "it was never given";
}

TEST_F(SharedRange, WhatWhereaboutsHasGivenIsNeverGivenHere) {
  whereabouts_gives({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  std::set<std::string> addresses;
  for (int i = 0; i < 3; ++i) addresses.insert(given(one_.add(rail_, fmt::format("ns/a{}", i))));
  EXPECT_EQ(addresses, (std::set<std::string>{"10.0.0.12", "10.0.0.13", "10.0.0.14"}));
  EXPECT_EQ(given(one_.add(rail_, "ns/named", {"10.0.0.7"})),
            "whereabouts has allocated 10.0.0.7 (network_name \"\"), or another node has not removed its entry yet");
}

TEST_F(SharedRange, WhatGoesBackLeavesThePoolBehindTheLease) {
  ASSERT_TRUE(one_.add(rail_, "ns/a", {"10.0.0.5"}).has_value());
  one_.del("ns/a");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->give_back({}, {}).has_value());
  EXPECT_EQ(cells_in(server_), "");
  EXPECT_EQ(pool(), "");
}

TEST_F(SharedRange, APoolThatWasMadeAgainGetsWhatIsHeldAndLosesWhatIsNot) {
  ASSERT_TRUE(one_.add(rail_, "ns/a", {"10.0.0.5"}).has_value());
  ASSERT_TRUE(one_.add(rail_, "ns/b", {"10.0.0.6"}).has_value());
  const kube::ObjectKey key{"kube-system", api::ip_pool_name("", ipam::prefix("10.0.0.0/28"))};
  ASSERT_TRUE(one_.client->remove(kube::kIpPools, key));
  whereabouts_gives({6});
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(pool(), "5 of node1/uuid-1, 6 of ns/other");
  EXPECT_EQ(cells_in(server_), "10.0.0.0 node1 0020");
  EXPECT_EQ(one_.leaser->take_conflicts(),
            std::vector<std::string>{
                "10.0.0.6 of network_name \"\" is in use on this node, but whereabouts has allocated it"});
}

TEST_F(SharedRange, TheFirstAndTheLastAddressOfACellAreReportedToo) {
  const api::IpamConfig rail = one_range("10.0.0.0/26");
  ASSERT_EQ(given(one_.add(rail, "ns/a", {"10.0.0.16"})), "10.0.0.16");
  ASSERT_EQ(given(one_.add(rail, "ns/b", {"10.0.0.31"})), "10.0.0.31");
  ASSERT_TRUE(one_.client->remove(kube::kIpPools, {"kube-system", api::ip_pool_name("", ipam::prefix("10.0.0.0/26"))}));
  whereabouts_gives({16, 31}, "10.0.0.0/26");
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  const char* reported = "{} of network_name \"\" is in use on this node, but whereabouts has allocated it";
  EXPECT_EQ(one_.leaser->take_conflicts(),
            (std::vector<std::string>{fmt::format(fmt::runtime(reported), "10.0.0.16"),
                                      fmt::format(fmt::runtime(reported), "10.0.0.31")}));
}

TEST_F(SharedRange, AnAnswerThatIsLostLeavesNothingBehind) {
  for (int spared = 0; spared < 8; ++spared) {
    one_.way.trouble = Way::Trouble::kLost;
    one_.way.spared = spared;
    const Result<IpAddress> address = one_.add(rail_, "ns/a");
    one_.way.trouble = Way::Trouble::kNone;
    if (address.has_value()) one_.del("ns/a");
    one_.start_agent();
    ASSERT_TRUE(one_.leaser->sync({}).has_value());
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->give_back({}, {}).has_value());
    EXPECT_EQ(cells_in(server_), "") << spared;
    EXPECT_TRUE(pool().empty() || pool() == "no pool") << spared << ": " << pool();
  }
}

}  // namespace
}  // namespace railbed::agent
