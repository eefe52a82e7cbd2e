// SPDX-License-Identifier: Apache-2.0
#include "report/jitter_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "perf/jitter/jitter_report.h"
#include "report/html.h"
#include "report/html_jitter.h"
#include "report/rail_table.h"

namespace railbed::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// 2,000 probes in two seconds, which take 10 us and `extra_ns`, a tenth of it for waking up; one takes 5 ms.
perf::JitterRound round(perf::PathLoad load, int64_t begun_s, uint64_t extra_ns) {
  perf::JitterRound out{.load = load, .since_start_s = static_cast<double>(begun_s)};
  out.started_at = std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000 + begun_s));
  for (uint64_t i = 0; i < 2000; ++i) {
    const uint64_t whole_ns = i == 1250 ? 5'000'000 : 10'000 + extra_ns + i % 100 * 10;
    out.probes.probes.push_back({.due_ns = i * 1'000'000, .whole_ns = whole_ns, .sending_ns = whole_ns / 10});
  }
  out.probes.duration_ns = 2'000'000'000;
  out.load_gbps = load == perf::PathLoad::kLoaded ? 300 : 0;
  out.load_ended_early = load == perf::PathLoad::kLoaded && begun_s == 9;
  return out;
}

// As `perf jitter --save` writes it.
std::string result(std::string label, int repeats = 3, bool with_load = true) {
  perf::JitterReport report{.version = "0.1.0",
                            .started_at = "2023-11-14T22:13:20.000Z",
                            .command = "railbed perf jitter 10.0.0.1 --label <rail>",
                            .label = std::move(label),
                            .client = {.hostname = "a", .address = "10.0.0.2", .netdev = "net1", .device = "mlx5_0"},
                            .server = {.hostname = "b", .address = "10.0.0.1", .device = "mlx5_1"},
                            .size_bytes = 8,
                            .rate_per_s = 1000,
                            .duration_s = 2};
  std::vector<perf::JitterRound> rounds;
  for (int i = 0; i < repeats; ++i) {
    rounds.push_back(round(perf::PathLoad::kIdle, 6 * i, 0));
    if (with_load) rounds.push_back(round(perf::PathLoad::kLoaded, 6 * i + 3, 50'000));
  }
  perf::summarise(rounds, report);
  return perf::to_json(report);
}

JitterPage page(const std::string& text) {
  const auto value = perf::read_result(text);
  EXPECT_TRUE(value && is_jitter(*value));
  auto read = jitter_from(*value);
  EXPECT_TRUE(read) << read.error().to_string();
  return read ? std::move(*read) : JitterPage{};
}

TEST(JitterPage, HasWhatWasSaved) {
  const JitterPage read = page(result("rail0"));
  EXPECT_EQ(read.name(), "rail0");
  EXPECT_EQ(read.idle.repeats, 3);
  ASSERT_EQ(read.idle.parts.size(), 3U);  // a software clock cannot part the last one
  EXPECT_EQ(read.idle.parts[0].name, "whole");
  EXPECT_EQ(read.idle.parts[0].samples, 6000U);
  EXPECT_DOUBLE_EQ(read.idle.parts[0].max_us, 5000);
  EXPECT_TRUE(read.idle.parts[0].percentiles_us[2]);
  EXPECT_FALSE(read.idle.parts[0].percentiles_us[3]);
  ASSERT_TRUE(read.loaded);
  EXPECT_DOUBLE_EQ(read.loaded->load_gbps, 300);
  EXPECT_EQ(read.loaded->rounds_with_short_load, 1);
  EXPECT_EQ(load_does(read), "higher: p50, p90, p99");
  ASSERT_EQ(read.worst.size(), perf::kWorstWindows);
  EXPECT_EQ(read.worst[0].at, "2023-11-14T22:13:21.200Z");
  EXPECT_TRUE(read.idle.drift);
}

TEST(JitterPage, SaysWhyNothingIsCompared) {
  EXPECT_EQ(load_does(page(result("rail0", 2))), "not compared: too few rounds");
  const JitterPage idle = page(result("", 3, false));
  EXPECT_FALSE(idle.loaded);
  EXPECT_EQ(idle.name(), "a mlx5_0 → b mlx5_1");
}

// As long as those of all other kinds of results.
TEST(JitterPage, TakesLongCommandsAndReasons) {
  const auto error_with = [](std::string_view key, size_t bytes) {
    doc::Value value = *perf::read_result(result("rail0"));
    value.set(std::string(key), std::string(bytes, 'x'));
    const auto read = jitter_from(value);
    return read ? std::string("none") : read.error().to_string();
  };
  EXPECT_EQ(error_with("command", perf::kMaxCommand_bytes), "none");
  EXPECT_EQ(error_with("command", perf::kMaxCommand_bytes + 1), "command has 16385 bytes, at most 16384 are allowed");
  EXPECT_EQ(error_with("ended_by", perf::kMaxReason_bytes), "none");
  EXPECT_EQ(error_with("ended_by", perf::kMaxReason_bytes + 1),
            "ended_by has 262145 bytes, at most 262144 are allowed");
}

TEST(JitterPage, NamesTheFieldThatIsWrong) {
  const std::string good = result("rail0");
  const auto error_with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    EXPECT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    const auto value = perf::read_result(text);
    if (!value) return value.error().to_string();
    const auto read = jitter_from(*value);
    return read ? std::string("none") : read.error().to_string();
  };
  EXPECT_EQ(error_with("railbed.jitter/v1", "railbed.jitter/v7"),
            "schema: \"railbed.jitter/v7\" is not railbed.jitter/v1, the one this version reads");
  EXPECT_EQ(error_with("\"whole\"", "\"most\""), "idle.whole is missing");
  EXPECT_EQ(error_with("\"repeats\": 3,\n    \"whole\"", "\"repeats\": -3,\n    \"whole\""),
            "idle.repeats must be at least 0, found -3");
  EXPECT_EQ(error_with("\"samples\": 6000", "\"samples\": \"many\""),
            "idle.whole.samples must be an integer, found a string \"many\"");
  EXPECT_EQ(error_with("\"client\"", "\"guest\""), "client is missing");
}

TEST(JitterTable, HasARowForEachRailIdleAndLoaded) {
  EXPECT_EQ(jitter_table({page(result("rail0")), page(result("rail1", 3, false))}).to_text(),
            R"(RAIL   LOAD        P50      P90      P99      MAX  THE LOAD MAKES IT
rail0  idle    10.5 µs  10.9 µs  11.0 µs  5.00 ms  -
rail0  loaded  60.5 µs  60.9 µs  61.0 µs  5.00 ms  higher: p50, p90, p99
rail1  idle    10.5 µs  10.9 µs  11.0 µs  5.00 ms  -
)");
}

TEST(JitterHtml, WholePage) {
  Report report{.title = "", .measurements = {}, .nodes = {}};
  report.jitters = {page(result("rail0")), page(result("<b>rail1</b>", 2)), page(result("", 3, false))};
  report.jitters[2].soft = true;
  report.jitters[2].clock = "device";
  report.jitters[2].ended_by = "Ctrl-C";
  report.jitters[2].idle.drift = JitterDrift{.us_per_s = 0.5, .error = 0.1, .clear = true};
  expect_golden(testdata() / "report/jitter.html", jitter_html(report.jitters));
  const std::string html = to_html(report);
  EXPECT_THAT(html, HasSubstr("<p class=\"quiet\">2023-11-14 22:13 UTC · 3 measurements · railbed"));
  EXPECT_THAT(html, Not(HasSubstr("Nothing was measured")));
  EXPECT_THAT(html, Not(HasSubstr("<b>rail1")));
}

TEST(JitterHtml, TellsHowManyAreNotShown) {
  const std::vector<JitterPage> many(130, page(result("r", 1, false)));
  EXPECT_THAT(jitter_html(many), HasSubstr("<p class=\"quiet\">and 2 more, see the result files</p>"));
  EXPECT_EQ(jitter_html({}), "");
}

}  // namespace
}  // namespace railbed::report
