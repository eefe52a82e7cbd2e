// SPDX-License-Identifier: Apache-2.0
#include "graph/vf_range.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::graph {
namespace {

std::vector<VfRange> arbitrary_ranges() {
  std::vector<VfRange> ranges;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    const int first = *rc::gen::inRange(0, 20);
    ranges.push_back({first, first + *rc::gen::inRange(-1, 6)});
  }
  return ranges;
}

std::set<int> members(const std::vector<VfRange>& ranges) {
  std::set<int> all;
  for (const VfRange& range : ranges)
    for (int vf = range.first; vf <= range.last; ++vf) all.insert(vf);
  return all;
}

RC_GTEST_PROP(VfRanges, JoinKeepsTheMembersAndIsShortest, ()) {
  const auto ranges = arbitrary_ranges();
  const auto joined = join(ranges);
  RC_ASSERT(members(joined) == members(ranges));
  for (size_t i = 1; i < joined.size(); ++i) RC_ASSERT(joined[i - 1].last + 1 < joined[i].first);
}

RC_GTEST_PROP(VfRanges, OverlapIsACommonMember, ()) {
  const auto a = join(arbitrary_ranges());
  const auto b = join(arbitrary_ranges());
  std::set<int> common;
  std::ranges::set_intersection(members(a), members(b), std::inserter(common, common.end()));
  RC_ASSERT(overlap(a, b) == !common.empty());
  RC_ASSERT(overlap(a, b) == overlap(b, a));
}

TEST(VfRanges, Text) {
  EXPECT_EQ(to_string({{0, 3}, {5, 5}}), "0-3, 5");
}

}  // namespace
}  // namespace railbed::graph
