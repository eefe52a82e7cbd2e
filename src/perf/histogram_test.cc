// SPDX-License-Identifier: Apache-2.0
#include "perf/histogram.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::perf {
namespace {

// Durations over all magnitudes, like latencies with a long tail.
rc::Gen<uint64_t> duration() {
  return rc::gen::apply([](uint64_t bits, int shift) { return (bits >> 24) >> shift; }, rc::gen::arbitrary<uint64_t>(),
                        rc::gen::inRange(0, 40));
}

// By whole numbers: percent has at most two decimals here.
uint64_t exact_percentile(std::vector<uint64_t> sorted, double percent) {
  const auto hundredths = static_cast<size_t>(std::lround(percent * 100));
  const size_t rank = std::max<size_t>(1, (hundredths * sorted.size() + 9999) / 10000);
  return sorted[rank - 1];
}

RC_GTEST_PROP(Histogram, AgreesWithASortedVector, ()) {
  auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<uint64_t>>(duration()));
  Histogram histogram;
  for (uint64_t value : values) histogram.record(value);
  std::sort(values.begin(), values.end());
  RC_ASSERT(histogram.count() == values.size());
  RC_ASSERT(histogram.min_ns() == values.front());
  RC_ASSERT(histogram.max_ns() == values.back());
  for (double percent : {0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const uint64_t exact = exact_percentile(values, percent);
    const uint64_t found = histogram.percentile_ns(percent);
    RC_ASSERT(found >= exact);
    RC_ASSERT(found <= exact + exact / 1024);
  }
  long double sum = 0;
  for (uint64_t value : values) sum += value;
  const long double mean = sum / values.size();
  long double squares = 0;
  for (uint64_t value : values) squares += (value - mean) * (value - mean);
  const auto deviation = static_cast<double>(std::sqrt(squares / values.size()));
  RC_ASSERT(std::abs(histogram.mean_ns() - static_cast<double>(mean)) <= 1e-9 * static_cast<double>(mean) + 1e-6);
  RC_ASSERT(std::abs(histogram.stddev_ns() - deviation) <= 1e-6 * deviation + 1e-3);
}

RC_GTEST_PROP(Histogram, MergedEqualsRecordedTogether, ()) {
  const auto left = *rc::gen::container<std::vector<uint64_t>>(duration());
  const auto right = *rc::gen::container<std::vector<uint64_t>>(duration());
  Histogram a, b, both;
  for (uint64_t value : left) a.record(value), both.record(value);
  for (uint64_t value : right) b.record(value), both.record(value);
  a.merge(b);
  RC_ASSERT(a.buckets() == both.buckets());
  RC_ASSERT(a.min_ns() == both.min_ns());
  RC_ASSERT(a.max_ns() == both.max_ns());
  RC_ASSERT(std::abs(a.mean_ns() - both.mean_ns()) <= 1e-9 * both.mean_ns() + 1e-6);
  RC_ASSERT(std::abs(a.stddev_ns() - both.stddev_ns()) <= 1e-6 * both.stddev_ns() + 1e-3);
}

RC_GTEST_PROP(Histogram, CompactFormComesBack, ()) {
  const auto values = *rc::gen::container<std::vector<uint64_t>>(duration());
  Histogram histogram;
  for (uint64_t value : values) histogram.record(value);
  Histogram back;
  RC_ASSERT(Histogram::restore(histogram.compact(), back));
  RC_ASSERT(back.buckets() == histogram.buckets());
  RC_ASSERT(back.min_ns() == histogram.min_ns());
  RC_ASSERT(back.max_ns() == histogram.max_ns());
  RC_ASSERT(std::abs(back.mean_ns() - histogram.mean_ns()) <= 1e-6 * histogram.mean_ns() + 1e-3);
  RC_ASSERT(std::abs(back.stddev_ns() - histogram.stddev_ns()) <= 1e-6 * histogram.stddev_ns() + 1e-3);
}

TEST(Histogram, ShowsASpreadOfOneNanosecond) {
  Histogram histogram;
  for (int i = 0; i < 1000; ++i) histogram.record(1'000'000'000 + i % 2);
  EXPECT_NEAR(histogram.stddev_ns(), 0.5, 1e-9);
}

TEST(Histogram, KeepsTheHighestSample) {
  Histogram histogram;
  for (int i = 0; i < 1000; ++i) histogram.record(1000);
  histogram.record(77'777'777);
  EXPECT_EQ(histogram.max_ns(), 77'777'777u);
  EXPECT_EQ(histogram.percentile_ns(100), 77'777'777u);
  EXPECT_EQ(histogram.percentile_ns(99), 1000u);
}

// Of n = 1000 k samples, n / 1000 are beyond the 99.9th percentile: it is never the maximum.
TEST(Histogram, TheRankOfAPercentileIsExact) {
  for (uint64_t thousands = 1; thousands <= 200; ++thousands) {
    Histogram histogram;
    histogram.record(1'000'000);
    for (uint64_t i = 1; i < thousands * 1000; ++i) histogram.record(i <= thousands * 999 ? 10 : 1'000'000);
    EXPECT_EQ(histogram.percentile_ns(99.9), 10u) << thousands * 1000 << " samples";
  }
}

TEST(Histogram, APercentileNeedsTenSamplesBeyondIt) {
  const auto settled = [](uint64_t samples, double percent) {
    Histogram histogram;
    for (uint64_t i = 0; i < samples; ++i) histogram.record(i);
    return histogram.settled_percentile_ns(percent).has_value();
  };
  EXPECT_FALSE(settled(0, 50));
  EXPECT_FALSE(settled(19, 50));
  EXPECT_TRUE(settled(20, 50));
  EXPECT_FALSE(settled(999, 99));
  EXPECT_TRUE(settled(1000, 99));
  EXPECT_FALSE(settled(9999, 99.9));
  EXPECT_TRUE(settled(10'000, 99.9));
  EXPECT_FALSE(settled(10'000, 100));
}

TEST(Histogram, CountsWhatIsTooLongAsTheLongest) {
  Histogram histogram;
  histogram.record(UINT64_MAX);
  EXPECT_EQ(histogram.max_ns(), Histogram::kMaxValue_ns);
  EXPECT_EQ(histogram.percentile_ns(50), Histogram::kMaxValue_ns);
}

TEST(Histogram, IsEmptyAgainAfterReset) {
  Histogram histogram(8);
  histogram.record(5);
  histogram.record(500'000);
  histogram.reset();
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_TRUE(histogram.buckets().empty());
  histogram.record(7);
  EXPECT_EQ(histogram.percentile_ns(99), 7u);
  EXPECT_EQ(histogram.mean_ns(), 7);
}

TEST(Histogram, RefusesACompactFormThatContradictsItself) {
  Histogram histogram;
  histogram.record(1000);
  histogram.record(5000);
  const Histogram::Compact good = histogram.compact();
  Histogram out;
  ASSERT_TRUE(Histogram::restore(good, out));
  const auto refused = [&](auto change) {
    Histogram::Compact bad = good;
    change(bad);
    return !Histogram::restore(bad, out);
  };
  EXPECT_TRUE(refused([](auto& c) { c.count = 3; }));
  EXPECT_TRUE(refused([](auto& c) { c.min_ns = 4000; }));
  EXPECT_TRUE(refused([](auto& c) { c.max_ns = 4000; }));
  EXPECT_TRUE(refused([](auto& c) { c.precision_bits = 40; }));
  EXPECT_TRUE(refused([](auto& c) { c.steps.pop_back(); }));
  EXPECT_TRUE(refused([](auto& c) { c.steps[0] = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto& c) { c.steps[1] = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto& c) { c.mean_ns = NAN; }));
  EXPECT_TRUE(refused([](auto& c) { c.mean_ns = 1e18; }));
  EXPECT_TRUE(refused([](auto& c) { c.stddev_ns = -1; }));
  EXPECT_TRUE(refused([](auto& c) { c.stddev_ns = 2050; })) << "more than half of the range";
}

// As many samples as a result may claim, at both ends of the range: sums do not overflow (asan finds it).
TEST(Histogram, HostileCountsDoNotOverflow) {
  Histogram two;
  two.record(0);
  two.record(Histogram::kMaxValue_ns);
  Histogram::Compact most = two.compact();
  most.count = uint64_t{1} << 48;
  most.steps[1] = most.steps[3] = most.count / 2;
  Histogram hostile;
  ASSERT_TRUE(Histogram::restore(most, hostile));
  EXPECT_NEAR(hostile.stddev_ns() / static_cast<double>(uint64_t{1} << 39), 1, 1e-6);
  most.stddev_ns = static_cast<double>(Histogram::kMaxValue_ns);
  Histogram refused;
  EXPECT_FALSE(Histogram::restore(most, refused));
  Histogram all;
  all.record(Histogram::kMaxValue_ns);
  for (int i = 0; i < 64; ++i) all.merge(hostile);
  EXPECT_TRUE(std::isfinite(all.mean_ns()) && std::isfinite(all.stddev_ns()));
  EXPECT_EQ(all.max_ns(), Histogram::kMaxValue_ns);
}

}  // namespace
}  // namespace railbed::perf
