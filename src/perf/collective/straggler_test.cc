// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/straggler.h"

#include <gtest/gtest.h>

namespace railbed::perf::collective {
namespace {

// A ring in which every step takes 10 us on its way, 2 us of adding, and no rank is slow.
std::vector<RankTimes> even_ring(uint32_t ranks) {
  const size_t steps = 2 * (ranks - 1);
  std::vector<RankTimes> all;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    all.push_back({.mean_us = 12.0 * static_cast<double>(steps),
                   .p50_us = 12.0 * static_cast<double>(steps),
                   .waited_p50_us = 10.0 * static_cast<double>(steps),
                   .own_p50_us = 2.0 * static_cast<double>(steps),
                   .step_waited_us = std::vector<double>(steps, 10),
                   .step_transfer_us = std::vector<double>(steps, 0),
                   .step_reduce_us = std::vector<double>(steps, 2),
                   .sent_us = std::vector<double>(steps, 10),
                   .wrong = {}});
  return all;
}

TEST(CollectiveStraggler, NoOneIsNamedWhereAllAreAlike) {
  for (const uint32_t ranks : {2u, 3u, 8u}) EXPECT_EQ(find_straggler(Algorithm::kRing, even_ring(ranks)), std::nullopt);
}

// Rank 2 needs 30 us a step: it waits for nothing, and all others wait for it.
TEST(CollectiveStraggler, ASlowRankIsNamedWithWhatItTook) {
  auto all = even_ring(4);
  for (RankTimes& times : all) {
    times.p50_us = 180;
    times.step_waited_us.assign(6, 28);
  }
  all[2].own_p50_us = 180;
  all[2].step_waited_us.assign(6, 0);
  const auto found = find_straggler(Algorithm::kRing, all);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (Straggler{.rank = 2, .took_us = 180, .usual_us = 12, .all_reduce_us = 180}));
  const auto steps = step_figures(Algorithm::kRing, all);
  ASSERT_EQ(steps.size(), 6u);
  EXPECT_EQ(steps[0], (StepFigures{.step = 0,
                                   .phase = "reduce-scatter",
                                   .waited_us = 28,
                                   .transfer_us = 10,
                                   .reduce_us = 2,
                                   .late_rank = 0,
                                   .late_from = 3,
                                   .late_us = 18}));
  EXPECT_EQ(steps[3].phase, "all-gather");
  EXPECT_EQ(steps[3].reduce_us, 0);
}

// What 1 sends to 2 is on its way for 40 us a step, by the sender's clock or, over sockets, the receiver's.
TEST(CollectiveStraggler, ASlowLinkIsNamed) {
  for (const bool sockets : {false, true}) {
    auto all = even_ring(4);
    for (RankTimes& times : all) {
      times.p50_us = 250;
      if (!sockets) continue;
      times.step_transfer_us.assign(6, 10);
      times.sent_us.assign(6, 0);
    }
    (sockets ? all[2].step_transfer_us : all[1].sent_us).assign(6, 40);
    const auto found = find_straggler(Algorithm::kRing, all);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found,
              (Straggler{.rank = {}, .from = 1, .to = 2, .took_us = 240, .usual_us = 60, .all_reduce_us = 250}));
    EXPECT_EQ(rank_figures(Algorithm::kRing, all)[2].transfer_us, 240);
    EXPECT_EQ(rank_figures(Algorithm::kRing, all)[3].transfer_us, 60);
  }
}

// The root adds more than a leaf, which is its place and no fault.
TEST(CollectiveStraggler, ATreesRootIsNotSlowForAdding) {
  constexpr uint32_t kRanks = 4;
  std::vector<RankTimes> all;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    const StepCount steps = steps_of(Algorithm::kTree, rank, kRanks);
    RankTimes times{.mean_us = 100, .p50_us = 100, .own_p50_us = 3, .step_reduce_us = {}};
    for (uint32_t step = 0; step < steps.receives; ++step) {
      const bool up = phase_of(Algorithm::kTree, rank, kRanks, step) == "up";
      times.step_waited_us.push_back(20);
      times.step_transfer_us.push_back(10);
      times.step_reduce_us.push_back(up ? 25 : 0);
      times.own_p50_us += up ? 25 : 0;
    }
    times.sent_us.assign(steps.sends, 0);
    all.push_back(times);
  }
  EXPECT_EQ(find_straggler(Algorithm::kTree, all), std::nullopt);
  const auto steps = step_figures(Algorithm::kTree, all);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].phase, "up");
  EXPECT_EQ(steps[0].reduce_us, 25);
  EXPECT_EQ(steps[1].phase, "down");
  all[3].own_p50_us += 50;  // a leaf, as rank 2 is
  ASSERT_TRUE(find_straggler(Algorithm::kTree, all));
  EXPECT_EQ(find_straggler(Algorithm::kTree, all)->rank, 3u);
}

}  // namespace
}  // namespace railbed::perf::collective
