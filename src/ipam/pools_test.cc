// SPDX-License-Identifier: Apache-2.0
#include "ipam/pools.h"

#include <gtest/gtest.h>

#include "ipam/test_ranges.h"

namespace railbed::ipam {
namespace {

using api::IpPool;
using api::IpPoolChange;

IpPool pool(const char* range, std::map<uint64_t, api::IpPoolAllocation> allocations = {}) {
  return {.ns = "kube-system", .name = "p", .range = prefix(range), .allocations = std::move(allocations)};
}
const api::CellHolder kN1{"n1", "u1", "b"};
api::IpPoolAllocation entry(const char* of, const char* address) {
  return {fmt::format("railbed.dev/{}/{}", of, address), ""};
}

TEST(Pools, ReserveWhatIsFreeAndLeaveOtherMachinesTheirs) {
  const IpPool before = pool("10.0.0.0/24", {{16, {"c1", "ai/llm-0"}},
                                             {17, entry("n2/u2", "10.0.0.17")},
                                             {18, entry("n1/u1", "10.0.0.18")},
                                             {20, entry("u1", "10.0.0.20")},
                                             {21, entry("u2", "10.0.0.21")},
                                             {22, entry("ended", "10.0.0.22")},
                                             {23, entry("ended/u2", "10.0.0.23")}});
  const auto change = reserve_in(before, {ip("10.0.0.16"), 0x00ff}, kN1);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(*change,
            (IpPoolChange{.put = {{19, entry("n1/u1", "10.0.0.19")}, {22, entry("n1/u1", "10.0.0.22")}}, .drop = {}}));
  EXPECT_EQ(given_in(before, ip("10.0.0.16")), 0x0001);
  EXPECT_EQ(of_others_in(before, ip("10.0.0.16"), kN1), 0x00a2) << "a node may have the name \"ended\"";
}

TEST(Pools, HaveTheHoldersIdAtLast) {
  const IpPool before = pool("10.0.0.0/24", {{16, {"c1", "ai/llm-0"}},
                                             {17, entry("n2/u2", "10.0.0.17")},
                                             {18, entry("n1/u1", "10.0.0.18")},
                                             {19, entry("u1", "10.0.0.19")}});
  EXPECT_EQ(set_holder(before, {ip("10.0.0.16"), 0x001f}, kN1),
            (IpPoolChange{.put = {{17, entry("n1/u1", "10.0.0.17")}, {19, entry("n1/u1", "10.0.0.19")}}, .drop = {}}));
}

TEST(Pools, CountFromTheAddressThatTheyWereWrittenWith) {
  const auto change = reserve_in(pool("10.0.0.16/28"), {ip("10.0.0.16"), 0x8001}, kN1);
  EXPECT_EQ(change.value().put.begin()->first, 0U);
  EXPECT_EQ(change.value().put.rbegin()->first, 15U);
  const auto v6 = reserve_in(pool("fd00::/64"), {ip("fd00::10"), 0x0001}, kN1);
  EXPECT_EQ(v6.value().put.begin()->first, 16U);
}

TEST(Pools, HaveNothingOfOtherAddresses) {
  EXPECT_TRUE(reserve_in(pool("10.0.1.0/24"), {ip("10.0.0.16"), 0xffff}, kN1).value().empty());
  EXPECT_TRUE(reserve_in(pool("fd00::/64"), {ip("10.0.0.16"), 0xffff}, kN1).value().empty());
  // A pool that is smaller than a cell has its part of it.
  EXPECT_EQ(reserve_in(pool("10.0.0.16/30"), {ip("10.0.0.16"), 0xffff}, kN1).value().put.size(), 4U);
  // An id in whereabouts' own name for a container, or an entry with a pod, is none of ours.
  EXPECT_FALSE(is_ours({"railbed.dev/u1/10.0.0.1", "ai/llm-0"}));
  EXPECT_FALSE(is_ours({"1b2c", ""}));
}

TEST(Pools, AreFullOfOursAtTheLimit) {
  IpPool full = pool("10.0.0.0/16");
  for (uint64_t i = 0; i < kMostInPool - 1; ++i)
    full.allocations[1024 + i] = {pool_entry_id(kN1, *ip("10.0.0.0").plus(1024 + i)), ""};
  EXPECT_EQ(reserve_in(full, {ip("10.0.0.16"), 0x0001}, kN1).value().put.size(), 1U);
  const auto refused = reserve_in(full, {ip("10.0.0.16"), 0x0003}, kN1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(
      refused.error().to_string(),
      "IPPool kube-system/p has 4095 addresses of railbed's nodes already, of 4096 that it may have: every ADD of "
      "whereabouts reads it\n"
      "  switch the other nodes over, then stop using --whereabouts share");
  // What has ended can be taken over all the same.
  full.allocations[16] = entry("ended", "10.0.0.16");
  EXPECT_EQ(reserve_in(full, {ip("10.0.0.16"), 0x0001}, kN1).value().put.size(), 1U);
}

TEST(Pools, LoseOnlyTheMachinesOwnEntries) {
  const IpPool before = pool("10.0.0.0/24", {{16, {"c1", "ai/llm-0"}},
                                             {17, entry("n2/u2", "10.0.0.17")},
                                             {18, entry("n1/u1", "10.0.0.18")},
                                             {19, entry("n1/u1", "10.0.0.19")},
                                             {40, entry("n1/u1", "10.0.0.40")},
                                             {41, entry("n1/u1", "10.0.0.99")}});
  EXPECT_EQ(release_in(before, {ip("10.0.0.16"), 0x0007}, kN1), (IpPoolChange{.put = {}, .drop = {18}}));
  EXPECT_EQ(release_rest(before, {{ip("10.0.0.16"), 0x0008}}, kN1), (IpPoolChange{.put = {}, .drop = {18, 40}}));
  EXPECT_EQ(release_rest(before, {{ip("10.0.0.16"), 0x0c00}, {ip("10.0.0.32"), 0x0100}}, kN1),
            (IpPoolChange{.put = {}, .drop = {18, 19}}));
}

TEST(Pools, LoseWhatNoOneHasLeasedInTwoSteps) {
  IpPool before = pool("10.0.0.0/24", {{16, {"c1", "ai/llm-0"}},
                                       {17, entry("n2/u2", "10.0.0.17")},
                                       {18, entry("ended", "10.0.0.18")},
                                       {40, entry("n1/u1", "10.0.0.40")}});
  EXPECT_EQ(entries_in(before), (CellMap{{ip("10.0.0.16"), 0x0006}, {ip("10.0.0.32"), 0x0100}}));
  const CellMap stale{{ip("10.0.0.16"), 0x000f}};
  EXPECT_EQ(mark_ended(before, stale), (IpPoolChange{.put = {{17, entry("ended", "10.0.0.17")}}, .drop = {}}));
  EXPECT_EQ(drop_ended(before, stale), (IpPoolChange{.put = {}, .drop = {18}}));
  // Who leases an address that is marked puts its own entry there.
  EXPECT_EQ(reserve_in(before, {ip("10.0.0.16"), 0x0004}, kN1).value(),
            (IpPoolChange{.put = {{18, entry("n1/u1", "10.0.0.18")}}, .drop = {}}));
}

TEST(Pools, AreInUseByOthersWhereAPodIsNotOfThisNode) {
  const IpPool one = pool("10.0.0.0/24", {{16, {"c1", "ai/llm-0"}}, {17, entry("n2/u2", "10.0.0.17")}});
  EXPECT_TRUE(has_others(one, {}));
  EXPECT_FALSE(has_others(one, {"ai/llm-0"}));
  EXPECT_FALSE(has_others(pool("10.0.0.0/24"), {}));
  EXPECT_TRUE(has_others(pool("10.0.0.0/24", {{3, {"", ""}}}), {"ai/llm-0"})) << "it cannot be read, and is taken";
}

}  // namespace
}  // namespace railbed::ipam
