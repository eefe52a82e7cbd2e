// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/jitter_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railbed::perf {
namespace {

using testing::HasSubstr;
using testing::Not;

// 2,000 probes within two seconds; each waits for 10 us plus `extra`, of which a tenth is this host's; one of 5 ms
// at 1.25 s.
JitterRound round(PathLoad load, double since_start_s, uint64_t extra_ns) {
  JitterRound out{.load = load, .since_start_s = since_start_s};
  out.started_at = std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000) +
                                                         std::chrono::seconds(static_cast<int64_t>(since_start_s)));
  for (uint64_t i = 0; i < 2000; ++i) {
    const uint64_t whole_ns = i == 1250 ? 5'000'000 : 10'000 + extra_ns + i % 100 * 10;
    out.probes.probes.push_back({.due_ns = i * 1'000'000, .whole_ns = whole_ns, .sending_ns = whole_ns / 10});
  }
  out.probes.duration_ns = 2'000'000'000;
  out.probes.cpu_ns = 10'000'000;
  out.load_gbps = load == PathLoad::kLoaded ? 90 + since_start_s : 0;
  return out;
}

JitterReport report_of_rounds(const std::vector<JitterRound>& rounds) {
  JitterReport report{.client = {.hostname = "a", .address = "10.0.0.2", .device = "mlx5_0"},
                      .server = {.hostname = "b", .address = "10.0.0.1", .device = "mlx5_1"},
                      .size_bytes = 8,
                      .rate_per_s = 1000,
                      .duration_s = 2,
                      .load_size_bytes = 65536};
  summarise(rounds, report);
  return report;
}

std::vector<JitterRound> in_turns(uint64_t load_extra_ns, int repeats = 3) {
  std::vector<JitterRound> rounds;
  for (int i = 0; i < repeats; ++i) {
    rounds.push_back(round(PathLoad::kIdle, 6 * i, 0));
    rounds.push_back(round(PathLoad::kLoaded, 6 * i + 3, load_extra_ns));
  }
  return rounds;
}

TEST(JitterReport, PartsEachProbe) {
  const JitterReport report = report_of_rounds(in_turns(50'000));
  EXPECT_EQ(report.idle.whole.samples, 6000u);
  EXPECT_EQ(report.idle.repeats, 3);
  EXPECT_NEAR(report.idle.sending.mean_us * 9, report.idle.between.mean_us, 0.020);
  EXPECT_NEAR(report.idle.whole.mean_us, report.idle.sending.mean_us + report.idle.between.mean_us, 0.001);
  EXPECT_DOUBLE_EQ(report.idle.cpu_percent, 0.5);
  ASSERT_TRUE(report.loaded);
  EXPECT_DOUBLE_EQ(report.loaded->load_gbps, 99);
}

TEST(JitterReport, WorstWindowsHaveTheirTimeOfDay) {
  const JitterReport report = report_of_rounds(in_turns(50'000));
  ASSERT_EQ(report.worst.size(), kWorstWindows);
  EXPECT_EQ(
      report.worst[0],
      (Window{
          .load = PathLoad::kIdle, .at = "2023-11-14T22:13:21.200Z", .p50_us = 10.51, .max_us = 5000, .samples = 100}));
  EXPECT_EQ(report.worst[3].load, PathLoad::kLoaded);
  EXPECT_EQ(report.worst[3].at, "2023-11-14T22:13:24.200Z");
}

TEST(JitterReport, ComparesOnlyWhatWasRepeated) {
  const JitterReport enough = report_of_rounds(in_turns(50'000));
  ASSERT_EQ(enough.comparisons.size(), 3u);  // p99.9 of 2,000 probes is not settled
  EXPECT_EQ(enough.comparisons[2].name, "p99");
  EXPECT_EQ(enough.comparisons[2].effect, LoadEffect::kHigher);
  EXPECT_TRUE(report_of_rounds(in_turns(50'000, 2)).comparisons.empty());
  for (const Comparison& one : report_of_rounds(in_turns(0)).comparisons) EXPECT_EQ(one.effect, LoadEffect::kUnclear);
}

TEST(JitterReport, OneRepeatAmongTheOthersLeavesItOpen) {
  std::vector<JitterRound> rounds = in_turns(50'000);
  rounds[1] = round(PathLoad::kLoaded, 3, 0);
  for (const Comparison& one : report_of_rounds(rounds).comparisons) EXPECT_EQ(one.effect, LoadEffect::kUnclear);
}

TEST(JitterReport, DriftIsTheSlopeOfTheMiddle) {
  std::vector<JitterRound> rounds;
  for (int i = 0; i < 4; ++i) rounds.push_back(round(PathLoad::kIdle, 10 * i, static_cast<uint64_t>(20'000 * i)));
  const JitterReport report = report_of_rounds(rounds);
  ASSERT_TRUE(report.idle.drift);
  EXPECT_NEAR(report.idle.drift->us_per_s, 0.9 * 2, 0.1);
  EXPECT_TRUE(report.idle.drift->clear);
  EXPECT_FALSE(report_of_rounds({}).idle.drift);
}

TEST(JitterReport, TheTableSaysHowSureItIs) {
  const std::string table = to_table(report_of_rounds(in_turns(50'000)));
  EXPECT_THAT(table,
              HasSubstr("jitter over RDMA (reads of 8 B)\n  client  a 10.0.0.2, mlx5_0\n  server  b 10.0.0.1, mlx5_1\n"
                        "  1000 probes a second by a schedule, 3 x 2 s idle and as often under load, in turns; "
                        "software clock\n"));
  EXPECT_THAT(table, HasSubstr("a software clock cannot separate them\n"));
  EXPECT_THAT(table, HasSubstr("the load: writes of 64 KiB, 99.00 Gb/s\n"));
  EXPECT_THAT(table, HasSubstr("load against idle, over 3 repeats of each in turns\n"));
  EXPECT_THAT(table, HasSubstr(" loaded: higher\n"));
  EXPECT_THAT(table, HasSubstr("idle 2023-11-14T22:13:21.200Z  p50 10.51, max 5000.00, 100 probes\n"));
  EXPECT_THAT(table, HasSubstr("the probing thread took 0.50 % of a processor idle, 0.50 % under load\n"));
  const std::string idle = to_table(report_of_rounds({round(PathLoad::kIdle, 0, 0)}));
  EXPECT_THAT(idle, Not(HasSubstr("under load")));
}

}  // namespace
}  // namespace railbed::perf
