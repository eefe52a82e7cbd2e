// SPDX-License-Identifier: Apache-2.0
// What an ADD learns of a VF that the kubelet gave to its pod.
#include "agent/cluster/offered_vfs.h"

#include <gtest/gtest.h>

#include "agent/cluster/test_node.h"

namespace railbed::agent {
namespace {

class OfferedVfsTest : public testing::Test {
 protected:
  OfferedVfsTest() {
    pool_.address = kVf00;
    pool_.pf = kPf0;
    pool_.rdma = true;
    pool_.held_by = "llm/a";
  }
  kubelet::NodeDevices devices() {
    kubelet::NodeDevices all;
    all.resources["openshift.io/rail0"] = {pool_};
    all.facts.nics.emplace_back();
    return all;
  }

  plan::PoolVf pool_;
  FakeOffers plugin_;
  size_t nics_ = 0;
  OfferedVfs offered_{plugin_, [this](const facts::NodeFacts& facts) { nics_ = facts.nics.size(); }};
};

TEST_F(OfferedVfsTest, BeforeTheFirstLookAnAddIsToComeAgain) {
  const auto found = offered_.find("0000:01:10.0", FirstLook::kPending);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, Code::kBusy);
  EXPECT_EQ(found.error().message,
            "the agent has just started and does not know yet whether 0000:01:10.0 is a VF of this node's policies");
}

TEST_F(OfferedVfsTest, WhatIsOnOfferIsKnownAtOnceAndWithoutItsHolder) {
  ASSERT_TRUE(offered_.offer(devices()).has_value());
  for (const FirstLook look : {FirstLook::kPending, FirstLook::kEnded}) {
    const auto found = offered_.find("0000:01:10.0", look);
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_TRUE((*found)->rdma);
    EXPECT_TRUE((*found)->held_by.empty());
  }
  EXPECT_EQ(nics_, 1U);
  EXPECT_EQ(offered_.counts(), (std::map<std::string, uint64_t>{{"openshift.io/rail0", 1}}));
  EXPECT_EQ(plugin_.last(), "openshift.io/rail0: 0000:01:10.0\n");
}

TEST_F(OfferedVfsTest, AfterTheFirstLookWhatIsNotOnOfferIsNoVfOfAPolicy) {
  ASSERT_TRUE(offered_.offer(devices()).has_value());
  auto found = offered_.find("0000:01:10.2", FirstLook::kEnded);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->has_value());
  ASSERT_TRUE(offered_.offer({}).has_value());
  found = offered_.find("0000:01:10.0", FirstLook::kEnded);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->has_value()) << "it was taken back";
}

}  // namespace
}  // namespace railbed::agent
