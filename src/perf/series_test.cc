// SPDX-License-Identifier: Apache-2.0
#include "perf/series.h"

#include <numeric>

#include <gtest/gtest.h>

namespace railbed::perf {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(ThroughputMeter, GivesTheRateOfASteadyStream) {
  ThroughputMeter meter;
  for (uint64_t t = 1; t <= 1000; ++t) meter.add(t * kMs, 125'000);  // 125 kB per ms is 1 Gb/s
  const ThroughputSeries series = meter.series();
  EXPECT_EQ(series.slot_ms, 10);
  ASSERT_EQ(series.gbps.size(), 100u);
  EXPECT_NEAR(series.gbps[50], 1, 1e-9);
  EXPECT_NEAR(series.peak_gbps, 1, 1e-9);
}

TEST(ThroughputMeter, ShowsAStall) {
  ThroughputMeter meter;
  for (uint64_t t = 0; t < 1000; ++t)
    if (t < 400 || t >= 600) meter.add(t * kMs, 125'000);
  const ThroughputSeries series = meter.series();
  EXPECT_EQ(series.gbps[45], 0);
  EXPECT_NEAR(series.gbps[70], 1, 1e-9);
}

TEST(ThroughputMeter, WidensItsSlotsForFewEvents) {
  ThroughputMeter meter;
  for (uint64_t t = 1; t <= 50; ++t) meter.add(t * 40 * kMs, 1'000'000);
  const ThroughputSeries series = meter.series();
  EXPECT_GE(series.slot_ms, 160);
  EXPECT_LT(series.peak_gbps, 0.27);  // 0.2 Gb/s, not 0.8 as in the best 10 ms
}

TEST(ThroughputMeter, HasNoPeakAboveTheAverageForAHandfulOfEvents) {
  ThroughputMeter meter;
  for (uint64_t t : {400, 410, 800}) meter.add(t * kMs, 8'000'000);
  EXPECT_NEAR(meter.series().peak_gbps, 0.24, 1e-9);
}

TEST(ThroughputMeter, GoesOnWhenARunIsLongerThanItsSlots) {
  ThroughputMeter meter;
  uint64_t bytes = 0;
  for (uint64_t t = 1; t <= 200'000; t += 10) meter.add(t * kMs, 100), bytes += 100;
  const ThroughputSeries series = meter.series();
  EXPECT_LE(series.gbps.size(), 1000u);
  const double sum = std::accumulate(series.gbps.begin(), series.gbps.end(), 0.0);
  EXPECT_NEAR(sum * series.slot_ms * 1e6 / 8, static_cast<double>(bytes), static_cast<double>(bytes) / 100);
}

TEST(ThroughputMeter, AddsStreams) {
  ThroughputMeter one, two;
  for (uint64_t t = 1; t <= 100; ++t) one.add(t * kMs, 125'000), two.add(t * kMs, 125'000);
  one.merge(two);
  EXPECT_NEAR(one.series().gbps[5], 2, 1e-9);
}

TEST(ThroughputMeter, HasNoSeriesWithoutEvents) {
  EXPECT_EQ(ThroughputMeter().series(), ThroughputSeries{});
}

TEST(LatencyMeter, ShowsWhenTheSlowSampleHappened) {
  LatencyMeter meter(10 * kMs);
  for (uint64_t t = 0; t < 100; ++t) meter.add(t * kMs, t == 55 ? 900'000 : 2'000);
  const auto slots = meter.slots();
  ASSERT_EQ(slots.size(), 10u);
  EXPECT_EQ(slots[5].at_ms, 50);
  EXPECT_EQ(slots[5].max_us, 900);
  EXPECT_EQ(slots[4].max_us, 2);
  EXPECT_EQ(slots[5].samples, 10u);
  EXPECT_EQ(meter.histogram().count(), 100u);
}

TEST(LatencyMeter, CountsOutages) {
  LatencyMeter meter(10 * kMs);
  uint64_t now = 0;
  const auto ping = [&](uint64_t latency_ns) {
    meter.add(now, latency_ns);
    now += latency_ns;
  };
  for (int i = 0; i < 100; ++i) ping(i == 40 ? 1000 * kMs : i == 80 ? 15 * kMs : 100'000);
  EXPECT_EQ(meter.outages(),
            (std::vector<Outage>{{.at_ms = 4, .duration_ms = 1000}, {.at_ms = 1007.9, .duration_ms = 15}}));
  // What is usual on a slow path is no outage there.
  LatencyMeter slow(10 * kMs);
  for (uint64_t i = 0; i < 100; ++i) slow.add(i * 20 * kMs, i == 50 ? 60 * kMs : 15 * kMs);
  EXPECT_EQ(slow.outages(), std::vector<Outage>{});
}

// By a schedule all pings that were due during an outage are late: it is one outage all the same.
TEST(LatencyMeter, PingsThatWereDueDuringAnOutageArePartOfIt) {
  LatencyMeter meter(10 * kMs);
  for (uint64_t i = 0; i < 4000; ++i) meter.add(i * kMs, i >= 1000 && i < 2000 ? (2000 - i) * kMs : 8000);
  EXPECT_EQ(meter.outages(), (std::vector<Outage>{{.at_ms = 1000, .duration_ms = 1000}}));
  EXPECT_GT(meter.histogram().settled_percentile_ns(99).value_or(0), 900 * kMs);
}

TEST(LatencyMeter, KeepsTheLongestOutages) {
  LatencyMeter meter(10 * kMs);
  for (uint64_t i = 0; i < 100'000; ++i) meter.add(i * 1000 * kMs, i % 100 == 99 ? (i == 99 ? 900 : 100) * kMs : 1000);
  EXPECT_EQ(meter.outages().size(), 256u);
  EXPECT_EQ(meter.outages()[0].duration_ms, 900);
}

TEST(LatencyMeter, KeepsTheNumberOfSlotsBounded) {
  LatencyMeter meter(1);
  for (uint64_t t = 0; t < 200'000; ++t) meter.add(t, 5);
  EXPECT_LT(meter.slots().size(), 8192u);
  EXPECT_EQ(meter.histogram().count(), 200'000u);
}

TEST(LatencyMeter, ChoosesSlotsByDuration) {
  EXPECT_EQ(LatencyMeter::slot_for_ns(500 * kMs), 10 * kMs);
  EXPECT_EQ(LatencyMeter::slot_for_ns(2000 * kMs), 20 * kMs);
  EXPECT_EQ(LatencyMeter::slot_for_ns(600'000 * kMs), 600 * kMs);
}

}  // namespace
}  // namespace railbed::perf
