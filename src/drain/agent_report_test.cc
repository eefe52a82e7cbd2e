// SPDX-License-Identifier: Apache-2.0
#include "drain/agent_report.h"

#include <gtest/gtest.h>

namespace railbed::drain {
namespace {

TEST(AgentReport, ComesBackFromItsText) {
  const AgentReport report{
      .change = "c1", .withdrawn = {"openshift.io/rail0"}, .applied = true, .failure = "x", .boot_id = "b"};
  EXPECT_EQ(
      to_text(report),
      R"({"change":"c1","withdrawn":["openshift.io/rail0"],"applied":true,"failure":"x","bootID":"b","version":1})");
  const auto back = read_agent_report(to_text(report));
  ASSERT_TRUE(back.has_value()) << back.error().to_string();
  EXPECT_EQ(*back, report);
}

TEST(AgentReport, OfNothingIsEmpty) {
  EXPECT_EQ(to_text(AgentReport{}), "");
  EXPECT_EQ(*read_agent_report(""), AgentReport{});
}

TEST(AgentReport, IsRefusedWithItsField) {
  for (const std::string text :
       {"{", "[]", "{}", R"({"version":2})", R"({"version":1,"withdrawn":"x"})", R"({"version":1,"applied":"yes"})"})
    EXPECT_FALSE(read_agent_report(text).has_value()) << text;
}

}  // namespace
}  // namespace railbed::drain
