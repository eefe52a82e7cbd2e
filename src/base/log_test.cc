// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <algorithm>
#include <regex>

#include <gtest/gtest.h>

namespace railbed {
namespace {

// The lines of a level and those above it, each with its time and level.
TEST(Log, SaysWhatTheLevelAsksForOnStandardError) {
  const auto reported = [](log::Level level) {
    log::set_level(level);
    testing::internal::CaptureStderr();
    log::debug("one {}");
    log::info("two");
    log::warn("three");
    log::error("four");
    const std::string text = testing::internal::GetCapturedStderr();
    static const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} )");
    return std::regex_replace(text, kTime, "at ");
  };
  EXPECT_EQ(reported(log::Level::kDebug), "at debug one {}\nat info two\nat warning three\nat error four\n");
  EXPECT_EQ(reported(log::Level::kWarn), "at warning three\nat error four\n");
  EXPECT_EQ(reported(log::Level::kError), "at error four\n");
  EXPECT_EQ(reported(log::Level::kInfo), "at info two\nat warning three\nat error four\n");
}

// What an object of the cluster asks for never takes away what the command line asked for.
TEST(Log, SaysMoreWithVerbosityAndNeverLess) {
  const auto lines = [](log::Level level, int verbosity) {
    log::set_level(level);
    log::set_verbosity(verbosity);
    testing::internal::CaptureStderr();
    log::debug("d");
    log::info("i");
    log::warn("w");
    const std::string text = testing::internal::GetCapturedStderr();
    log::set_level(log::Level::kInfo);
    return std::ranges::count(text, '\n');
  };
  EXPECT_EQ(lines(log::Level::kWarn, 0), 1);
  EXPECT_EQ(lines(log::Level::kWarn, 1), 2);
  EXPECT_EQ(lines(log::Level::kWarn, 2), 3);
  EXPECT_EQ(lines(log::Level::kInfo, 1), 2);
  EXPECT_EQ(lines(log::Level::kDebug, 0), 3);
  EXPECT_EQ(lines(log::Level::kDebug, 1), 3);
}

}  // namespace
}  // namespace railbed
