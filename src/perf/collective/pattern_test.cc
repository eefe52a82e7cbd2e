// SPDX-License-Identifier: Apache-2.0
// Bandwidths, sizes and the check of sums.
#include "perf/collective/pattern.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "perf/collective/bandwidth.h"
#include "perf/collective/schedule.h"

namespace railbed::perf::collective {
namespace {

std::vector<float> sums_of(uint32_t ranks, uint32_t seed, size_t count) {
  std::vector<float> sum(count, 0);
  std::vector<float> one(count);
  for (uint32_t rank = ranks; rank-- > 0;) {
    fill_input(one, rank, seed);
    add(sum.data(), sum.data(), one.data(), count);
  }
  return sum;
}

TEST(CollectivePattern, SumsAreExactForAsManyRanksAsThereMayBe) {
  for (const uint32_t ranks : {2u, 3u, kMaxRanks})
    EXPECT_EQ(find_wrong(sums_of(ranks, 5, 20000), ranks, 5), std::nullopt);
}

TEST(CollectivePattern, WhatIsWrongIsFound) {
  const std::vector<float> right = sums_of(4, 1, 1000);
  EXPECT_GT(find_wrong(right, 4, 2)->count, 990u) << "an all-reduce of before";
  std::vector<float> moved(right.begin() + 1, right.end());
  EXPECT_GT(find_wrong(moved, 4, 1)->count, 990u) << "one place further";
  EXPECT_EQ(find_wrong(sums_of(3, 1, 1000), 4, 1)->count, 1000u) << "a rank is missing";
  std::vector<float> twice = right;
  std::vector<float> one(1000);
  fill_input(one, 2, 1);
  twice[7] += one[7];
  EXPECT_EQ(find_wrong(twice, 4, 1), (Wrong{.offset = 7, .wanted = right[7], .got = twice[7], .count = 1}));
  std::vector<float> spoilt = right;
  spoil(std::span(spoilt).subspan(990));
  const auto nothing = find_wrong(spoilt, 4, 1);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->offset, 990u);
  EXPECT_EQ(nothing->count, 10u);
  EXPECT_TRUE(std::isnan(nothing->got));
}

// 1 GB in 10 ms: the example that everybody can reckon.
TEST(CollectiveBandwidth, IsAsNcclTestsDefinesIt) {
  EXPECT_DOUBLE_EQ(algbw_gbytes_per_s(1'000'000'000, 10'000), 100);
  EXPECT_DOUBLE_EQ(busbw_gbytes_per_s(100, 2), 100);
  EXPECT_DOUBLE_EQ(busbw_gbytes_per_s(100, 8), 175);
  EXPECT_DOUBLE_EQ(algbw_gbytes_per_s(8, 0), 0);
}

TEST(CollectiveBandwidth, SizesGoFromOneToTheOther) {
  const auto sizes = [](uint64_t from, uint64_t to, int64_t factor) {
    const auto all = sizes_between(from, to, factor);
    return all ? fmt::format("{}", fmt::join(*all, " ")) : all.error().to_string();
  };
  EXPECT_EQ(sizes(8, 128, 2), "8 16 32 64 128");
  EXPECT_EQ(sizes(8, 127, 2), "8 16 32 64");
  EXPECT_EQ(sizes(6, 60, 3), "4 16 52");
  EXPECT_EQ(sizes(1048576, 1048576, 2), "1048576");
  EXPECT_EQ(sizes(2, 8, 2), "--begin: 2 bytes are less than one float32, which has 4");
  EXPECT_EQ(sizes(64, 8, 2), "--end: 8 bytes are less than the 64 of --begin");
  EXPECT_EQ(sizes(8, 1ULL << 31, 2), "--end: 2147483648 bytes are more than 1073741824 per rail");
  EXPECT_EQ(sizes(8, 64, 1), "--factor: 1 does not make sizes larger; at least 2 does");
}

}  // namespace
}  // namespace railbed::perf::collective
