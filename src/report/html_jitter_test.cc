// SPDX-License-Identifier: Apache-2.0
#include "report/html_jitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "perf/jitter/test_jitter.h"
#include "report/html.h"
#include "report/rail_table.h"

namespace railbed::report {
namespace {

using perf::test_jitter;
using testing::HasSubstr;
using testing::Not;

// As the report has it: written by `perf jitter --save` and read again.
perf::JitterReport saved_jitter(std::string label, int repeats = 3, bool with_load = true) {
  const auto value = perf::read_result(perf::to_json(test_jitter(std::move(label), repeats, with_load)));
  EXPECT_TRUE(value && perf::is_result_of(*value, perf::kJitterName));
  auto read = perf::jitter_from(*value);
  EXPECT_TRUE(read) << read.error().to_string();
  return read ? std::move(*read) : perf::JitterReport{};
}

TEST(LoadDoes, SaysWhatChangesOrWhyNothingIsCompared) {
  EXPECT_EQ(load_does(saved_jitter("rail0")), "higher: p50, p90, p99");
  EXPECT_EQ(load_does(saved_jitter("rail0", 2)), "not compared: too few rounds");
  const perf::JitterReport idle = saved_jitter("", 3, false);
  EXPECT_FALSE(idle.loaded);
  EXPECT_EQ(idle.name(), "a mlx5_0 → b mlx5_1");
}

TEST(JitterTable, HasARowForEachRailIdleAndLoaded) {
  EXPECT_EQ(jitter_table({saved_jitter("rail0"), saved_jitter("rail1", 3, false)}).to_text(),
            R"(RAIL   LOAD        P50      P90      P99      MAX  THE LOAD MAKES IT
rail0  idle    10.5 µs  10.9 µs  11.0 µs  5.00 ms  -
rail0  loaded  60.5 µs  60.9 µs  61.0 µs  5.00 ms  higher: p50, p90, p99
rail1  idle    10.5 µs  10.9 µs  11.0 µs  5.00 ms  -
)");
}

TEST(JitterHtml, WholePage) {
  std::vector<perf::JitterReport> jitters = {saved_jitter("rail0"), saved_jitter("<b>rail1</b>", 2),
                                             saved_jitter("", 3, false)};
  jitters[2].soft = true;
  jitters[2].clock = perf::ProbeClock::kDevice;
  jitters[2].ended_by = "Ctrl-C";
  jitters[2].idle.drift = perf::Drift{.us_per_s = 0.5, .error = 0.1, .clear = true};
  expect_golden(testdata() / "report/jitter.html", jitter_html(jitters).text());
  const std::string html = to_html({.title = "", .sections = {jitter_section(jitters)}});
  EXPECT_THAT(html, HasSubstr("<p class=\"quiet\">2023-11-14 22:13 UTC · 3 measurements · railbed"));
  EXPECT_THAT(html, Not(HasSubstr("Nothing was measured")));
  EXPECT_THAT(html, Not(HasSubstr("<b>rail1")));
}

TEST(JitterHtml, ReportsHowManyAreNotShown) {
  const std::vector<perf::JitterReport> many(130, saved_jitter("r", 1, false));
  EXPECT_THAT(jitter_html(many).text(), HasSubstr("<p class=\"quiet\">and 2 more, see the result files</p>"));
  EXPECT_EQ(jitter_html({}).text(), "");
}

}  // namespace
}  // namespace railbed::report
