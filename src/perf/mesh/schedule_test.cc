// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/schedule.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::perf::mesh {
namespace {

HostPair ordered(HostPair pair) {
  return {std::min(pair.first, pair.second), std::max(pair.first, pair.second)};
}

// Every host is in one pair of the round, or rests.
void expect_disjoint(const Round& round, uint32_t hosts) {
  std::set<uint32_t> busy;
  for (const HostPair& pair : round.pairs) {
    RC_ASSERT(busy.insert(pair.first).second);
    RC_ASSERT(busy.insert(pair.second).second);
  }
  if (round.resting) RC_ASSERT(busy.insert(*round.resting).second);
  RC_ASSERT(busy.size() == hosts);
  RC_ASSERT(*busy.rbegin() == hosts - 1);
}

TEST(Schedule, FourHostsMeetInThreeRounds) {
  const Schedule schedule = *Schedule::make({.hosts = 4, .rail_count = 2});
  ASSERT_EQ(schedule.rounds(), 3U);
  EXPECT_EQ(schedule.round(0).pairs, (std::vector<HostPair>{{3, 0}, {1, 2}}));
  EXPECT_EQ(schedule.round(1).pairs, (std::vector<HostPair>{{3, 1}, {2, 0}}));
  EXPECT_EQ(schedule.round(2).pairs, (std::vector<HostPair>{{3, 2}, {0, 1}}));
  EXPECT_EQ(schedule.round(0).resting, std::nullopt);
}

TEST(Schedule, OfThreeHostsOneRestsInEachRound) {
  const Schedule schedule = *Schedule::make({.hosts = 3, .rail_count = 1});
  ASSERT_EQ(schedule.rounds(), 3U);
  EXPECT_EQ(schedule.round(0).resting, 0U);
  EXPECT_EQ(schedule.round(1).resting, 1U);
  EXPECT_EQ(schedule.round(2).resting, 2U);
  EXPECT_EQ(schedule.round(1).pairs, (std::vector<HostPair>{{2, 0}}));
}

TEST(Schedule, ShiftsWithoutNumbersArePowersOfTwo) {
  const Schedule schedule = *Schedule::make({.pattern = Pattern::kShift, .hosts = 6, .rail_count = 1});
  EXPECT_EQ(schedule.spec().shifts, (std::vector<uint32_t>{1, 2, 4}));
  EXPECT_EQ(schedule.round(2).pairs, (std::vector<HostPair>{{0, 4}, {1, 5}, {2, 0}, {3, 1}, {4, 2}, {5, 3}}));
}

// Files refer to pairs by number: the shuffle may not change between versions.
TEST(Schedule, QuickIsTheSameForEver) {
  const Schedule schedule =
      *Schedule::make({.pattern = Pattern::kQuick, .hosts = 8, .rail_count = 1, .partners = 2, .seed = 42});
  ASSERT_EQ(schedule.rounds(), 2U);
  EXPECT_EQ(schedule.round(0).pairs, (std::vector<HostPair>{{5, 3}, {1, 7}, {6, 0}, {2, 4}}));
  EXPECT_EQ(schedule.round(1).pairs, (std::vector<HostPair>{{5, 1}, {6, 3}, {2, 7}, {4, 0}}));
}

TEST(Schedule, SaysWhatNoFabricCanHave) {
  const std::pair<ScheduleSpec, const char*> cases[] = {
      {{.hosts = 1, .rail_count = 1}, "a schedule needs 2 to 32768 hosts, not 1"},
      {{.hosts = 32769, .rail_count = 1}, "a schedule needs 2 to 32768 hosts, not 32769"},
      {{.hosts = 2, .rail_count = 0}, "a schedule needs 1 to 64 rails, not 0"},
      {{.hosts = 2, .rail_count = 65}, "a schedule needs 1 to 64 rails, not 65"},
      {{.rails = RailPairs::kCross, .hosts = 2, .rail_count = 1},
       "cross-rail pairs need 2 rails, and the mesh has one"},
      {{.pattern = Pattern::kQuick, .hosts = 2, .rail_count = 1, .partners = 0},
       "a quick mesh needs at least 1 partner for each host"},
      {{.pattern = Pattern::kShift, .hosts = 4, .rail_count = 1, .shifts = {4}},
       "a shift of 4 among 4 hosts: 1 to 3 are possible"},
      {{.pattern = Pattern::kShift, .hosts = 4, .rail_count = 1, .shifts = {0}},
       "a shift of 0 among 4 hosts: 1 to 3 are possible"},
      {{.pattern = Pattern::kShift, .hosts = 4, .rail_count = 1, .shifts = {2, 1, 2}}, "duplicate shift 2"},
      {{.hosts = 32768, .rail_count = 8},
       "32768 hosts with 8 rails are 4294836224 pairs of NICs in this mesh; 1073741824 is the limit\n"
       "  a quick mesh, or one of the same rail, has fewer"},
  };
  for (const auto& [spec, message] : cases) {
    const auto schedule = Schedule::make(spec);
    ASSERT_FALSE(schedule.has_value()) << message;
    EXPECT_EQ(schedule.error().to_string(), message);
    EXPECT_EQ(schedule.error().code, Code::kInvalid);
  }
}

RC_GTEST_PROP(Schedule, FullHasEachPairOnceAndRoundsAreDisjoint, ()) {
  const auto hosts = *rc::gen::inRange<uint32_t>(2, 70);
  const Schedule schedule = *Schedule::make({.hosts = hosts, .rail_count = 3});
  std::set<HostPair> seen;
  std::set<uint32_t> rested;
  for (uint32_t number = 0; number < schedule.rounds(); ++number) {
    const Round round = schedule.round(number);
    RC_ASSERT(round.pairs.size() == schedule.pairs_per_round());
    expect_disjoint(round, hosts);
    if (round.resting) RC_ASSERT(rested.insert(*round.resting).second);
    for (const HostPair& pair : round.pairs) RC_ASSERT(seen.insert(ordered(pair)).second);
  }
  RC_ASSERT(seen.size() == size_t{hosts} * (hosts - 1) / 2);
  RC_ASSERT(rested.size() == (hosts % 2 == 0 ? 0 : hosts));
}

RC_GTEST_PROP(Schedule, QuickGivesEachHostAFewPartnersAndNoPairTwice, ()) {
  const auto hosts = *rc::gen::inRange<uint32_t>(2, 60);
  const auto partners = *rc::gen::inRange<uint32_t>(1, 70);
  const ScheduleSpec spec{.pattern = Pattern::kQuick,
                          .hosts = hosts,
                          .rail_count = 1,
                          .partners = partners,
                          .seed = *rc::gen::arbitrary<uint64_t>()};
  const Schedule schedule = *Schedule::make(spec);
  std::set<HostPair> seen;
  std::map<uint32_t, uint32_t> met;
  for (uint32_t number = 0; number < schedule.rounds(); ++number) {
    const Round round = schedule.round(number);
    expect_disjoint(round, hosts);
    for (const HostPair& pair : round.pairs) {
      RC_ASSERT(seen.insert(ordered(pair)).second);
      ++met[pair.first];
      ++met[pair.second];
    }
    if (round.resting) ++met[*round.resting];
  }
  for (const auto& [host, count] : met) RC_ASSERT(count == schedule.rounds());
  RC_ASSERT(schedule.rounds() == std::min(partners, hosts % 2 == 0 ? hosts - 1 : hosts));
}

RC_GTEST_PROP(Schedule, InAShiftEachHostSendsOnceAndReceivesOnce, ()) {
  const auto hosts = *rc::gen::inRange<uint32_t>(2, 60);
  const auto shift = *rc::gen::inRange<uint32_t>(1, hosts);
  const Schedule schedule =
      *Schedule::make({.pattern = Pattern::kShift, .hosts = hosts, .rail_count = 1, .shifts = {shift}});
  std::set<uint32_t> senders;
  std::set<uint32_t> receivers;
  const Round round = schedule.round(0);
  for (const HostPair& pair : round.pairs) {
    RC_ASSERT((pair.first + shift) % hosts == pair.second);
    senders.insert(pair.first);
    receivers.insert(pair.second);
  }
  RC_ASSERT(senders.size() == hosts);
  RC_ASSERT(receivers.size() == hosts);
}

RC_GTEST_PROP(Schedule, AllRailsAreAllPairsOfNicsOnceAndCrossThoseWithoutTheSameRail, ()) {
  const auto hosts = *rc::gen::inRange<uint32_t>(2, 12);
  const auto rails = *rc::gen::inRange<uint32_t>(2, 6);
  const bool cross = *rc::gen::arbitrary<bool>();
  const Schedule schedule =
      *Schedule::make({.rails = cross ? RailPairs::kCross : RailPairs::kAll, .hosts = hosts, .rail_count = rails});
  std::set<std::pair<Nic, Nic>> seen;
  for (uint32_t number = 0; number < schedule.rounds(); ++number) {
    const Round round = schedule.round(number);
    std::set<Nic> busy;
    for (const HostPair& pair : round.pairs)
      for (uint32_t rail = 0; rail < rails; ++rail) {
        const Nic one{pair.first, rail};
        const Nic other{pair.second, schedule.partner_rail(rail, round.rail_offset)};
        RC_ASSERT(busy.insert(one).second);
        RC_ASSERT(busy.insert(other).second);
        RC_ASSERT(!cross || one.rail != other.rail);
        RC_ASSERT(seen.insert(std::minmax(one, other)).second);
      }
  }
  const size_t host_pairs = size_t{hosts} * (hosts - 1) / 2;
  RC_ASSERT(seen.size() == host_pairs * rails * (cross ? rails - 1 : rails));
}

}  // namespace
}  // namespace railbed::perf::mesh
