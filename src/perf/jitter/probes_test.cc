// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/probes.h"

#include <gtest/gtest.h>

namespace railbed::perf {
namespace {

TEST(NoticedLate, NothingOfTooFew) {
  EXPECT_FALSE(noticed_late_ns({}));
  EXPECT_FALSE(noticed_late_ns(std::vector<ClockPair>(19)));
}

// A device whose clock starts elsewhere and runs 50 ppm fast; every seventh answer is noticed 30 us late, the others
// at once.
TEST(NoticedLate, IsWhatTheHostTookBeyondTheFastest) {
  std::vector<ClockPair> pairs;
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t at_ns = i * 1'000'000;
    pairs.push_back({at_ns + (i % 7 == 0 ? 30'000 : 0), 77'000'000'000'000 + at_ns + at_ns / 20'000});
  }
  const auto late = noticed_late_ns(pairs);
  ASSERT_TRUE(late);
  for (size_t i = 0; i < pairs.size(); ++i)
    EXPECT_NEAR(static_cast<double>((*late)[i]), i % 7 == 0 ? 30'000 : 0, 5) << i;
}

// How far the clocks run apart is taken from the first and the last tenth; the fastest answers may be others.
TEST(NoticedLate, AFastAnswerInBetweenTurnsNothing) {
  for (const size_t fast : {10, 50, 89}) {
    std::vector<ClockPair> pairs;
    for (uint64_t i = 0; i < 100; ++i) pairs.push_back({i * 1'000'000 + (i == fast ? 0 : 700), i * 1'000'000});
    const auto late = noticed_late_ns(pairs);
    ASSERT_TRUE(late);
    for (size_t i = 0; i < pairs.size(); ++i) EXPECT_NEAR(static_cast<double>((*late)[i]), i == fast ? 0 : 700, 1) << i;
  }
}

// The device's clock may be behind, and its numbers may wrap around.
TEST(NoticedLate, ClocksMayHaveAnyDistance) {
  std::vector<ClockPair> pairs;
  for (uint64_t i = 0; i < 100; ++i) pairs.push_back({i * 1000 + (i == 50 ? 400 : 0), UINT64_MAX - 20'000 + i * 1000});
  const auto late = noticed_late_ns(pairs);
  ASSERT_TRUE(late);
  EXPECT_EQ((*late)[49], 0u);
  EXPECT_EQ((*late)[50], 400u);
  EXPECT_EQ((*late)[99], 0u);
}

TEST(Probe, HasThreeParts) {
  const Probe probe{.due_ns = 1, .whole_ns = 100, .sending_ns = 30, .noticing_ns = 20};
  EXPECT_EQ(probe.between_ns(), 50u);
}

}  // namespace
}  // namespace railbed::perf
