// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/jitter/test_jitter.h"

namespace railbed::perf {
namespace {

JitterReport jitter_of(const std::string& text) {
  const auto value = read_result(text);
  EXPECT_TRUE(value && is_result_of(*value, kJitterName));
  auto read = jitter_from(*value);
  EXPECT_TRUE(read) << read.error().to_string();
  return read ? std::move(*read) : JitterReport{};
}

TEST(JitterJson, HasWhatWasSaved) {
  const JitterReport read = jitter_of(to_json(test_jitter("rail0")));
  EXPECT_EQ(read.name(), "rail0");
  EXPECT_EQ(read.idle.repeats, 3);
  const auto parts = read.idle.parts();
  ASSERT_EQ(parts.size(), 3U);  // a software clock cannot part the last one
  EXPECT_EQ(parts[0].first, "whole");
  EXPECT_EQ(read.idle.whole.samples, 6000U);
  EXPECT_DOUBLE_EQ(read.idle.whole.max_us, 5000);
  EXPECT_TRUE(read.idle.whole.percentiles_us[2]);
  EXPECT_FALSE(read.idle.whole.percentiles_us[3]);
  ASSERT_TRUE(read.loaded);
  EXPECT_DOUBLE_EQ(read.loaded->load_gbps, 300);
  EXPECT_EQ(read.loaded->rounds_with_short_load, 1);
  ASSERT_EQ(read.worst.size(), kWorstWindows);
  EXPECT_EQ(read.worst[0].at, "2023-11-14T22:13:21.200Z");
  EXPECT_TRUE(read.idle.drift);
}

// Byte for byte, so that nothing is lost on the way; and so is what people see.
TEST(JitterJson, ComesBackAsItWas) {
  JitterReport report = test_jitter("rail0");
  report.clock = ProbeClock::kDevice;
  summarise({test_jitter_round(PathLoad::kIdle, 0, 0), test_jitter_round(PathLoad::kLoaded, 3, 10)}, report);
  report.peer = "10.0.0.1";
  report.client.gid = "fe80::1";
  report.client.soft = report.soft = true;
  report.client.link = "400 Gb/sec (4X NDR)";
  report.polls_us = 10;
  report.repeats = 4;
  report.load_size_bytes = 65536;
  report.ended_by = "stopped";
  for (const JitterReport& one : {report, test_jitter("", 3, false)}) {
    const JitterReport read = jitter_of(to_json(one));
    EXPECT_EQ(to_json(read), to_json(one));
    EXPECT_EQ(to_table(read), to_table(one));
  }
  EXPECT_EQ(jitter_of(to_json(report)).idle.parts().size(), 4U);
}

// A version that did not say how it waits for answers, nor how often it was asked to repeat.
TEST(JitterJson, ReadsOlderResults) {
  doc::Value older = doc::Value::object();
  const doc::Value value = *read_result(to_json(test_jitter("rail0")));
  for (const doc::Value::Member& member : *value.as_object())
    if (member.key != "polls_us" && member.key != "peer" && member.key != "repeats")
      older.set(member.key, member.value);
  const auto read = jitter_from(older);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->polls_us, 0);
}

// As long as those of all other kinds of results.
TEST(JitterJson, TakesLongCommandsAndReasons) {
  const auto error_with = [](std::string_view key, size_t bytes) {
    doc::Value value = *read_result(to_json(test_jitter("rail0")));
    value.set(std::string(key), std::string(bytes, 'x'));
    const auto read = jitter_from(value);
    return read ? std::string("none") : read.error().to_string();
  };
  EXPECT_EQ(error_with("command", kMaxCommand_bytes), "none");
  EXPECT_EQ(error_with("command", kMaxCommand_bytes + 1), "command has 16385 bytes, at most 16384 are allowed");
  EXPECT_EQ(error_with("ended_by", kMaxReason_bytes), "none");
  EXPECT_EQ(error_with("ended_by", kMaxReason_bytes + 1), "ended_by has 262145 bytes, at most 262144 are allowed");
}

TEST(JitterJson, NamesTheFieldThatIsWrong) {
  const std::string good = to_json(test_jitter("rail0"));
  const auto error_with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    EXPECT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    const auto value = read_result(text);
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
  EXPECT_EQ(error_with("\"load_is\": \"higher\"", "\"load_is\": \"sideways\""),
            "comparisons[0].load_is must be \"higher\", \"lower\" or \"unclear\", found \"sideways\"");
}

}  // namespace
}  // namespace railbed::perf
