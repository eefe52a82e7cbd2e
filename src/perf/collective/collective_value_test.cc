// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/limits_of.h"
#include "perf/collective/collective_report.h"
#include "perf/collective/test_collective.h"

namespace railbed::perf::collective {
namespace {

std::string read_and_written(const std::string& text) {
  const auto value = read_result(text);
  if (!value) return value.error().to_string();
  const auto run = run_from(*value);
  return run ? doc::to_json(to_value(*run), 2) : run.error().to_string();
}

TEST(CollectiveValue, ComesBackAsItWas) {
  CollectiveRun run = test_run("before", 3, 2);
  run.soft = true;
  run.results[1].wrong.push_back({.rank = 2, .rail = 1, .wrong = {.offset = 5, .wanted = 3, .got = 2.5, .count = 9}});
  run.results[1].wrong.push_back(
      {.rank = 0, .rail = 0, .wrong = {.wanted = 3, .got = std::numeric_limits<double>::quiet_NaN(), .count = 1}});
  run.ended_by = "rank1: the peer closed the connection";
  const std::string text = doc::to_json(to_value(run), 2);
  EXPECT_EQ(read_and_written(text), text);
  const auto read = run_from(*read_result(text));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(report_lines(*read, Steps::kShown), report_lines(run, Steps::kShown));
}

// Those of before reports knew them have no label and no time.
TEST(CollectiveValue, ReadsOlderResults) {
  doc::Value value = to_value(test_run("before", 2, 1));
  doc::Value older = doc::Value::object();
  for (const doc::Value::Member& member : *value.as_object())
    if (member.key != "started_at" && member.key != "command" && member.key != "label")
      older.set(member.key, member.value);
  const auto read = run_from(older);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->started_at + read->command + read->label, "");
  EXPECT_EQ(read->results.size(), 4U);
}

TEST(CollectiveValue, NamesOfRanksAreCleaned) {
  CollectiveRun run = test_run("", 2, 1);
  run.ranks[0] = "a\x1b[2J";
  const auto read = run_from(*read_result(doc::to_json(to_value(run))));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->ranks[0], "a\\x1b[2J");
}

TEST(CollectiveValue, NamesTheFieldThatIsWrong) {
  const std::string good = doc::to_json(to_value(test_run("before", 3, 1)), 2);
  const auto error_with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    EXPECT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    return read_and_written(text);
  };
  EXPECT_EQ(error_with("railbed.collective/v1", "railbed.collective/v7"),
            "schema: \"railbed.collective/v7\" is not railbed.collective/v1, the one this version reads");
  EXPECT_EQ(error_with("\"transport\": \"tcp\"", "\"transport\": \"udp\""),
            "transport: \"udp\" is not a transport: rdma or tcp");
  EXPECT_EQ(error_with("\"rank0\",\n    \"rank1\",\n    \"rank2\"", "\"rank0\""),
            "ranks: a collective has two or more");
  EXPECT_EQ(error_with("\"right\": true", "\"right\": false"),
            "right: false, which contradicts what is reported as wrong");
  EXPECT_EQ(error_with("\"complete\": true", "\"complete\": false"), "complete: false, which contradicts ended_by");
  EXPECT_EQ(error_with("\"algorithm\": \"ring\"", "\"algorithm\": \"star\""),
            "results[0].algorithm must be \"ring\" or \"tree\", found \"star\"");
  EXPECT_EQ(error_with("\"size_bytes\": 1024", "\"size_bytes\": 2"),
            "results[0].size_bytes must be 4 to 1073741824, found 2");
  EXPECT_EQ(error_with("\"late_from\": \"rank2\"", "\"late_from\": \"rank7\""),
            "results[0].rails[0].steps[0].late_from: \"rank7\" is not in the list");
  EXPECT_EQ(error_with("\"phase\": \"all-gather\"", "\"phase\": \"around\""),
            "results[0].rails[0].steps[2].phase must be \"reduce-scatter\", \"all-gather\", \"up\" or \"down\", found "
            "\"around\"");
  EXPECT_EQ(error_with("\"own_p50_us\"", "\"others_p50_us\""), "results[0].rails[0].ranks[0].own_p50_us is missing");
}

TEST(CollectiveValue, LimitsOfItsReader) {
  CollectiveRun run = test_run("before", 2, 1);
  run.results.resize(1);
  run.results[0].wrong.push_back({.rank = 0, .rail = 0, .wrong = {.offset = 5, .wanted = 3, .got = 2.5, .count = 9}});
  run.results[0].rails[0].steps.resize(1);
  run.results[0].rails[0].ranks.resize(1);
  run.results[0].rails[0].ranks[0].p99_us = 9;
  run.results[0].rails[0].ranks[0].waited_p99_us = 9;
  doc::LimitsOf limits(to_value(run), [](const std::string& json) {
    const auto value = read_result(json);
    return value && run_from(*value);
  });
  expect_golden(testdata() / "perf/collective.limits", limits.text());
}

}  // namespace
}  // namespace railbed::perf::collective
