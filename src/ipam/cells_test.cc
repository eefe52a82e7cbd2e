// SPDX-License-Identifier: Apache-2.0
#include "ipam/cells.h"

#include <algorithm>
#include <bit>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ipam/range_search.h"
#include "ipam/test_ranges.h"

namespace railbed::ipam {
namespace {

using api::CellOffsets;
using api::kWholeCell;

CellWant want(const char* subnet, uint64_t addresses) {
  return {.network_name = "", .ranges = {range(subnet)}, .gateways = {}, .addresses = addresses};
}

std::string text(const std::vector<IpRange>& ranges) {
  std::string out;
  for (const IpRange& one : ranges) out += (out.empty() ? "" : " ") + one.to_string();
  return out;
}
std::string text(const std::optional<CellChoice>& choice) {
  return choice ? fmt::format("{} {:04x}", choice->base, choice->offsets) : "none";
}
std::string text(const std::vector<CellChoice>& choices) {
  std::string out;
  for (const CellChoice& one : choices) out += (out.empty() ? "" : ", ") + text(std::optional(one));
  return out;
}

TEST(Cells, BeginAtMultiplesOfSixteen) {
  EXPECT_EQ(cell_of(ip("10.0.0.0")), ip("10.0.0.0"));
  EXPECT_EQ(cell_of(ip("10.0.0.31")), ip("10.0.0.16"));
  EXPECT_EQ(cell_of(ip("fd00::ff")), ip("fd00::f0"));
}

TEST(Cells, AreRangesAndRangesAreCells) {
  EXPECT_EQ(text(ranges_of(ip("10.0.0.16"), kWholeCell)), "10.0.0.16-10.0.0.31");
  EXPECT_EQ(text(ranges_of(ip("10.0.0.16"), 0x8007)), "10.0.0.16-10.0.0.18 10.0.0.31-10.0.0.31");
  EXPECT_EQ(text(ranges_of(ip("255.255.255.240"), 0x8000)), "255.255.255.255-255.255.255.255");
  const std::vector<IpRange> ranges{{ip("10.0.0.3"), ip("10.0.0.17")}, {ip("10.0.0.31"), ip("10.0.0.40")}};
  EXPECT_EQ(offsets_in(ranges, ip("10.0.0.0")), 0xfff8);
  EXPECT_EQ(offsets_in(ranges, ip("10.0.0.16")), 0x8003);
  EXPECT_EQ(offsets_in(ranges, ip("10.0.0.48")), 0);
  EXPECT_EQ(offsets_in(ranges, ip("fd00::")), 0);
}

RC_GTEST_PROP(Cells, KeepTheirOffsetsThroughRanges, ()) {
  const auto offsets = *rc::gen::arbitrary<CellOffsets>();
  const IpAddress base = *rc::gen::element(ip("10.0.0.16"), ip("255.255.255.240"), ip("fd00::f0"));
  RC_ASSERT(offsets_in(ranges_of(base, offsets), base) == offsets);
}

TEST(Cells, GiveOnlyWhatAnInterfaceMayGet) {
  CellWant some = want("10.0.0.0/24", 1);
  EXPECT_EQ(usable_offsets(some, ip("10.0.0.0")), 0xfffe);    // not the network's own address
  EXPECT_EQ(usable_offsets(some, ip("10.0.0.240")), 0x7fff);  // nor the broadcast address
  some.ranges[0].addresses = {ip("10.0.0.10"), ip("10.0.0.37")};
  some.ranges[0].excluded = {prefix("10.0.0.16/30")};
  some.gateways = {ip("10.0.0.12")};
  EXPECT_EQ(usable_offsets(some, ip("10.0.0.0")), 0xec00);
  EXPECT_EQ(usable_offsets(some, ip("10.0.0.16")), 0xfff0);
  EXPECT_EQ(usable_offsets(some, ip("10.0.0.32")), 0x003f);
  EXPECT_EQ(usable_offsets(some, ip("10.0.0.48")), 0);
  EXPECT_EQ(usable_of(some, {{ip("10.0.0.0"), 0x0fff}, {ip("10.0.0.16"), kWholeCell}}), 2 + 12u);
}

TEST(Cells, AreWantedForEachSetOfRanges) {
  api::IpamConfig config = whereabouts({{range("10.0.0.0/24"), range("10.0.1.0/24")}, {range("fd00::/64")}});
  config.network_name = "rail0";
  config.range_sets[0][0].gateway = ip("10.0.0.1");
  const std::vector<CellWant> wants = wants_of(config, 3);
  ASSERT_EQ(wants.size(), 2u);
  EXPECT_EQ(wants[0].ranges.size(), 2u);
  EXPECT_EQ(wants[1].ranges[0].subnet, prefix("fd00::/64"));
  EXPECT_EQ(wants[1].network_name, "rail0");
  EXPECT_EQ(wants[1].addresses, 3u);
  EXPECT_EQ(wants[0].gateways, std::vector{ip("10.0.0.1")});
}

struct Search {
  const char* name;
  CellWant want;
  CellSearch search;
  const char* next;
};

std::vector<Search> searches() {
  CellWant holes = want("10.0.0.0/24", 1);
  holes.ranges[0].excluded = {prefix("10.0.0.0/25")};
  CellWant middle = want("10.0.0.0/24", 1);
  middle.ranges[0].addresses = {ip("10.0.0.20"), ip("10.0.0.20")};
  return {
      {"nothing is wanted", want("10.0.0.0/24", 0), {}, "none"},
      {"the first", want("10.0.0.0/24", 1), {}, "10.0.0.0 ffff"},
      {"from a place of its own", want("10.0.0.0/24", 1), {.start = 16 + 3}, "10.0.0.48 ffff"},
      {"round the end", want("10.0.0.0/24", 1), {.taken = {{ip("10.0.0.240"), 1}}, .start = 15}, "10.0.0.0 ffff"},
      {"it has enough", want("10.0.0.0/24", 15), {.mine = {{ip("10.0.0.0"), kWholeCell}}}, "none"},
      {"it has too little", want("10.0.0.0/24", 16), {.mine = {{ip("10.0.0.0"), kWholeCell}}}, "10.0.0.16 ffff"},
      {"excluded cells are no cells", holes, {}, "10.0.0.128 ffff"},
      {"a range within a cell", middle, {}, "10.0.0.16 ffff"},
      {"single addresses where nodes are many", want("10.0.0.0/24", 2), {.nodes = 17}, "10.0.0.0 0006"},
      {"beside those of others",
       want("10.0.0.0/24", 2),
       {.taken = {{ip("10.0.0.0"), 0x000e}}, .nodes = 17},
       "10.0.0.0 0030"},
      {"no cell is whole any more",
       want("10.0.0.0/27", 2),
       {.taken = {{ip("10.0.0.0"), kWholeCell}, {ip("10.0.0.16"), 1}}},
       "10.0.0.16 0006"},
      {"nothing is left",
       want("10.0.0.0/27", 2),
       {.taken = {{ip("10.0.0.0"), kWholeCell}, {ip("10.0.0.16"), 0x7fff}}},
       "none"},
      {"what is left, and no more",
       want("10.0.0.0/28", 9),
       {.mine = {{ip("10.0.0.0"), 0x000e}}, .taken = {{ip("10.0.0.0"), 0x3ff0}}},
       "10.0.0.0 4000"},
      {"a long range", want("fd00::/64", 1), {.start = 1ULL << 59}, "fd00:0:0:0:8000:: ffff"},
      {"a longer one", want("fd00::/16", 1), {.start = 5}, "fd00::50 ffff"},
  };
}

TEST(Cells, AreTriedInTurn) {
  for (const Search& one : searches()) {
    std::string expected = one.next;
    if (one.next[0] == 'f') {  // in the one spelling
      const size_t blank = expected.find(' ');
      expected = ip(expected.substr(0, blank).c_str()).to_string() + expected.substr(blank);
    }
    EXPECT_EQ(text(next_cell(one.want, one.search)), expected) << one.name;
  }
}

TEST(Cells, AreGivenBackWhenNoOneNeedsThem) {
  const CellMap two{{ip("10.0.0.0"), kWholeCell}, {ip("10.0.0.16"), kWholeCell}};
  EXPECT_EQ(text(left_over({want("10.0.0.0/24", 31)}, two, {}, 1)), "");
  EXPECT_EQ(text(left_over({want("10.0.0.0/24", 16)}, two, {}, 1)), "10.0.0.0 ffff");
  EXPECT_EQ(text(left_over({want("10.0.0.0/24", 1)}, two, {{ip("10.0.0.0"), 2}}, 1)), "10.0.0.16 ffff");
  EXPECT_EQ(text(left_over({want("10.0.0.0/24", 1)}, two, {{ip("10.0.0.0"), 2}, {ip("10.0.0.16"), 2}}, 1)), "");
  EXPECT_EQ(text(left_over({}, two, {}, 1)), "10.0.0.0 ffff, 10.0.0.16 ffff") << "no network names them any more";
  EXPECT_EQ(text(left_over({want("10.0.0.0/28", 1), want("10.0.0.0/24", 1)}, two, {}, 1)), "10.0.0.16 ffff")
      << "of two wants the narrower one keeps its cell";
}

TEST(Cells, OfFewAddressesAreGivenBackOneByOne) {
  const CellMap some{{ip("10.0.0.0"), 0x00fe}};
  EXPECT_EQ(text(left_over({want("10.0.0.0/24", 3)}, some, {{ip("10.0.0.0"), 0x0002}}, 1)), "10.0.0.0 00f0");
  // Where nodes are more than cells, also of a cell that is held whole.
  const CellMap whole{{ip("10.0.0.0"), kWholeCell}};
  EXPECT_EQ(text(left_over({want("10.0.0.0/24", 3)}, whole, {{ip("10.0.0.0"), 0x0002}}, 17)), "10.0.0.0 fff1");
  EXPECT_EQ(text(left_over({want("10.0.0.0/24", 3)}, whole, {{ip("10.0.0.0"), 0x0002}}, 16)), "");
}

// Whatever is held by whom: what is leased next is usable for the want, without an owner, and asked for until it is
// enough or nothing is left; and what is given back is not leased to an interface and not wanted.
RC_GTEST_PROP(Cells, AreLeasedUntilThereAreEnough, ()) {
  CellWant some = want("10.0.0.0/25", *rc::gen::inRange<uint64_t>(0, 140));
  some.ranges[0].addresses = {*ip("10.0.0.0").plus(*rc::gen::inRange<uint64_t>(0, 60)),
                              *ip("10.0.0.60").plus(*rc::gen::inRange<uint64_t>(0, 67))};
  some.gateways = {*ip("10.0.0.0").plus(*rc::gen::inRange<uint64_t>(0, 128))};
  CellSearch search{.nodes = *rc::gen::inRange<uint64_t>(1, 20), .start = *rc::gen::arbitrary<uint64_t>()};
  for (uint64_t i = 0; i < 8; ++i)
    if (*rc::gen::arbitrary<bool>())
      search.taken[*ip("10.0.0.0").plus(16 * i)] = *rc::gen::weightedOneOf<CellOffsets>(
          {{1, rc::gen::just(kWholeCell)}, {2, rc::gen::arbitrary<CellOffsets>()}});
  uint64_t all = 0;
  for (uint64_t i = 0; i < 8; ++i) {
    const IpAddress base = *ip("10.0.0.0").plus(16 * i);
    const auto taken = search.taken.find(base);
    const CellOffsets others = taken != search.taken.end() ? taken->second : CellOffsets{0};
    all += static_cast<uint64_t>(std::popcount(static_cast<CellOffsets>(usable_offsets(some, base) & ~others)));
  }
  for (int tries = 0; tries < 200; ++tries) {
    const std::optional<CellChoice> next = next_cell(some, search);
    if (!next) break;
    RC_ASSERT((usable_offsets(some, next->base) & next->offsets) != 0);
    RC_ASSERT((search.taken[next->base] & next->offsets) == 0);
    RC_ASSERT((search.mine[next->base] & next->offsets) == 0);
    search.mine[next->base] |= next->offsets;
  }
  RC_ASSERT(usable_of(some, search.mine) >= std::min(all, some.addresses));

  CellMap leased;
  for (const auto& [base, offsets] : search.mine)
    leased[base] = static_cast<CellOffsets>(offsets & *rc::gen::arbitrary<CellOffsets>());
  const uint64_t less = *rc::gen::inRange<uint64_t>(0, some.addresses + 1);
  some.addresses = less;
  const uint64_t before = usable_of(some, search.mine);
  CellMap after = search.mine;
  for (const CellChoice& one : left_over({some}, search.mine, leased, search.nodes)) {
    RC_ASSERT((leased[one.base] & one.offsets) == 0);
    RC_ASSERT((one.offsets & ~after[one.base]) == 0);
    after[one.base] = static_cast<CellOffsets>(after[one.base] & ~one.offsets);
  }
  RC_ASSERT(usable_of(some, after) >= std::min(before, less));
}

}  // namespace
}  // namespace railbed::ipam
