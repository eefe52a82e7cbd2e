// SPDX-License-Identifier: Apache-2.0
#include "ipam/cell_leases.h"

#include <gtest/gtest.h>

#include "ipam/test_ranges.h"

namespace railbed::ipam {
namespace {

using api::AddressCell;
using api::CellLease;

constexpr int64_t kQuiet = 43200;

CellOwner me(const char* node = "node1", const char* boot = "boot-1", const char* uuid = "uuid-1") {
  return {.holder = {node, uuid, boot}, .quiet_seconds = kQuiet, .former_names = {}};
}

AddressCell empty() {
  return {.network_name = "", .base = ip("10.0.0.16"), .leases = {}, .uid = "", .resource_version = ""};
}

CellLease lease(const CellOwner& of, api::CellOffsets offsets) {
  return {.holder = of.holder, .claim = "c", .offsets = offsets, .quiet_seconds = kQuiet};
}

AddressCell with(std::vector<CellLease> leases) {
  AddressCell cell = empty();
  cell.leases = std::move(leases);
  return cell;
}

TEST(CellLeases, AreMadeAndEndedByTheirHolder) {
  const AddressCell one = with_mine(empty(), me(), 0x00ff, "a").value();
  EXPECT_EQ(held_by(one, me()), 0x00ff);
  EXPECT_EQ(held_by_others(one, me()), 0);
  EXPECT_EQ(held_by_others(one, me("node2", "boot-2", "uuid-2")), 0x00ff);
  const AddressCell two = with_mine(one, me("node2", "boot-2", "uuid-2"), 0x0100, "b").value();
  EXPECT_EQ(two.leases.size(), 2u);
  const AddressCell three = with_mine(two, me(), 0, "c").value();
  ASSERT_EQ(three.leases.size(), 1u);
  EXPECT_EQ(three.leases[0].holder.node, "node2");
  EXPECT_TRUE(with_mine(three, me("node2", "boot-2", "uuid-2"), 0, "d").value().leases.empty());
}

TEST(CellLeases, AreRefusedWhereAnotherNodeHasTheAddress) {
  const AddressCell one = with_mine(empty(), me("node2", "boot-2", "uuid-2"), 0x0100, "a").value();
  const auto refused = with_mine(one, me(), 0x0300, "b");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_EQ(refused.error().story(), "addresses of the cell 10.0.0.16 of network_name \"\" are leased to node node2");
}

TEST(CellLeases, OfAnEarlierBootEndWithTheNextWrite) {
  const AddressCell before = with({lease(me("node1", "boot-0"), 0x000f)});
  EXPECT_EQ(held_by(before, me()), 0);
  EXPECT_EQ(held_by_others(before, me()), 0);
  EXPECT_TRUE(needs_write(before, me()));
  EXPECT_TRUE(with_mine(before, me(), 0, "a").value().leases.empty());
  const AddressCell after = with_mine(before, me(), 0x0003, "a").value();
  EXPECT_FALSE(needs_write(after, me()));
  EXPECT_EQ(held_by(after, me()), 0x0003);
  EXPECT_EQ(after.leases.size(), 1u);
}

TEST(CellLeases, StayWithAMachineThatWasRenamed) {
  const AddressCell cell = with({lease(me("old"), 0x000f)});
  EXPECT_EQ(held_by(cell, me()), 0x000f) << "the same boot is the same agent";
  EXPECT_TRUE(needs_write(cell, me())) << "the name is reported again";
  EXPECT_EQ(with_mine(cell, me(), 0x000f, "a").value().leases[0].holder.node, "node1");

  // Another boot with another name may be a clone of the machine, which lives.
  const AddressCell earlier = with({lease(me("old", "boot-0"), 0x000f)});
  EXPECT_EQ(held_by_others(earlier, me()), 0x000f);
  EXPECT_FALSE(needs_write(earlier, me()));
  CellOwner renamed = me();
  renamed.former_names = {"old"};
  EXPECT_EQ(held_by_others(earlier, renamed), 0);
  EXPECT_TRUE(with_mine(earlier, renamed, 0, "a").value().leases.empty());
}

// Or somebody wrote this machine's UUID and boot into a lease of another node.
TEST(CellLeases, UnderAnotherNameAreOthersWhereTheyCannotBeWritten) {
  const AddressCell cell = with({lease(me("old"), 0x000f), lease(me(), 0x0010)});
  CellOwner owner = me();
  owner.own_name_only = true;
  EXPECT_EQ(held_by(cell, owner), 0x0010);
  EXPECT_EQ(held_by_others(cell, owner), 0x000f);
  EXPECT_FALSE(needs_write(cell, owner));
  EXPECT_EQ(with_mine(cell, owner, 0, "a").value().leases.size(), 1u);
}

TEST(CellLeases, AreNotThoseOfAnotherMachineWithTheName) {
  const AddressCell cell = with({lease(me("node1", "boot-2", "uuid-2"), 0x000f)});
  EXPECT_EQ(held_by(cell, me()), 0);
  EXPECT_EQ(held_by_others(cell, me()), 0x000f);
}

TEST(CellLeases, AreWrittenAgainWhereTheOperatorHasCounted) {
  AddressCell cell = with({lease(me(), 0x000f)});
  EXPECT_FALSE(needs_write(cell, me()));
  cell.leases[0].gone_seconds = 1;
  EXPECT_TRUE(needs_write(cell, me()));
  EXPECT_EQ(with_mine(cell, me(), 0x000f, "a").value().leases[0].gone_seconds, 0);
}

// Of two leases with one offset the first has it: a write must not make the older one the later.
TEST(CellLeases, StayInTheirPlace) {
  const CellOwner other = me("node2", "boot-2", "uuid-2");
  AddressCell cell = with({lease(me(), 0x0001), lease(other, 0x0011)});
  api::give_offsets_to_the_first(cell.leases);
  EXPECT_EQ(held_by(cell, me()), 0x0001);
  EXPECT_EQ(held_by_others(cell, me()), 0x0010);
  EXPECT_FALSE(needs_write(cell, me()));
  const AddressCell more = with_mine(cell, me(), 0x0003, "b").value();
  ASSERT_EQ(more.leases.size(), 2u);
  EXPECT_EQ(more.leases[0].holder.node, "node1");
  EXPECT_EQ(more.leases[0].offsets, 0x0003);
  EXPECT_EQ(more.leases[1].overlapping, 0x0001);
  EXPECT_TRUE(needs_write(cell, other)) << "what it only claims is taken out by its next write";
  EXPECT_EQ(with_mine(cell, other, 0x0010, "c").value().leases[1].overlapping, 0);
  EXPECT_EQ(held_by(with_mine(cell, me(), 0, "d").value(), other), 0x0011) << "the first one has ended";
}

// A policy refuses writes that touch them.
TEST(CellLeases, OfOthersStayWhateverTheySay) {
  const AddressCell cell = with({lease(me("node2", "boot-2", "uuid-2"), 0)});
  const AddressCell after = with_mine(cell, me(), 0x0001, "a").value();
  ASSERT_EQ(after.leases.size(), 2u);
  EXPECT_EQ(after.leases[0], cell.leases[0]);
}

TEST(CellLeases, AreOfUseAsLongAsTheAgentHearsOfTheApiServer) {
  EXPECT_TRUE(may_give(kQuiet, 0, 0));
  EXPECT_TRUE(may_give(kQuiet, kQuiet - 1, 0));
  EXPECT_FALSE(may_give(kQuiet, kQuiet, 0));
  EXPECT_FALSE(may_give(kQuiet, 0, kQuiet)) << "the machine did not run, and its clock since boot stood still";
  EXPECT_TRUE(may_give(kQuiet, 0, -1000000)) << "the clock was set back";
  EXPECT_TRUE(may_give(0, 1 << 30, 1 << 30));
}

struct Judged {
  const char* name;
  std::optional<CellNode> node;
  int64_t gone;
  int64_t since;
  LeaseVerdict verdict;
};

TEST(CellLeases, AreJudgedByTheOperator) {
  const CellNode own{.system_uuid = "uuid-1", .boot_id = "boot-1", .ready = true};
  CellNode dead{.system_uuid = "uuid-1", .boot_id = "boot-1", .out_of_service = true};
  CellNode back = dead, up = dead;
  back.boot_id = "boot-0";
  up.ready = true;
  const CellNode other{.system_uuid = "uuid-9", .boot_id = "boot-9", .ready = true};
  using enum LeaseFate;
  const Judged cases[] = {
      {"its Node is there", own, 0, 0, {}},
      {"its Node is back", own, 500, 0, {kCounts, 0, ""}},
      {"out of service", dead, 0, 0, {kEnds, 0, "its Node is tainted as out of service"}},
      {"tainted still, and the lease is of the next boot", back, 0, 0, {}},
      {"tainted and ready", up, 0, 0, {}},
      {"just gone", std::nullopt, 0, 0, {kCounts, 1, ""}},
      {"looked at again", std::nullopt, 1, 60, {kCounts, 61, ""}},
      {"no time has passed", std::nullopt, 61, 0, {}},
      {"nearly", std::nullopt, 86000, 399, {kCounts, 86399, ""}},
      {"for a day", std::nullopt, 86000, 400, {kEnds, 0, "it has had no Node for 86400 s"}},
      {"another machine has the name", other, 0, 0, {kCounts, 1, ""}},
      {"for a day", other, 86399, 1, {kEnds, 0, "another machine has had the name of its Node for 86400 s"}},
  };
  for (const Judged& one : cases) {
    CellLease judged = lease(me(), 1);
    judged.gone_seconds = one.gone;
    const LeaseVerdict verdict =
        judge(judged, {.node = one.node ? &*one.node : nullptr, .seconds = one.since}, {.after_seconds = 86400});
    EXPECT_EQ(verdict.fate, one.verdict.fate) << one.name;
    EXPECT_EQ(verdict.gone_seconds, one.verdict.gone_seconds) << one.name;
    EXPECT_EQ(verdict.why, one.verdict.why) << one.name;
  }
}

// An operator with a shorter time than the agents' does not end a lease under an agent that may still give from it.
TEST(CellLeases, LastTwiceTheTimeThatTheirHolderGivesAlone) {
  CellLease judged = lease(me(), 1);
  judged.gone_seconds = 2 * kQuiet - 1;
  EXPECT_EQ(judge(judged, {}, {.after_seconds = 60}).fate, LeaseFate::kStays);
  EXPECT_EQ(judge(judged, {.seconds = 1}, {.after_seconds = 60}).fate, LeaseFate::kEnds);
  EXPECT_EQ(judge(judged, {.seconds = 1}, {.after_seconds = std::nullopt}).fate, LeaseFate::kCounts);
  judged.quiet_seconds = 0;
  judged.gone_seconds = 1 << 30;
  EXPECT_EQ(judge(judged, {.seconds = 1}, {.after_seconds = 60}).fate, LeaseFate::kCounts)
      << "its holder never stops to give";
}

}  // namespace
}  // namespace railbed::ipam
