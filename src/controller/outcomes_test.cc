// SPDX-License-Identifier: Apache-2.0
#include "controller/outcomes.h"

#include <gtest/gtest.h>

namespace railbed::controller {
namespace {

NodeOutcome about(const std::string& node, const std::string& policy, NodeProgress progress = NodeProgress::kDone) {
  return {.node = node, .outcome = {.policy = policy}, .progress = progress, .error = ""};
}

TEST(Outcomes, ReportWhichPoliciesAreNews) {
  Outcomes outcomes;
  using Names = std::vector<std::string>;
  EXPECT_EQ(outcomes.put("n1", {about("n1", "a"), about("n1", "b")}), (Names{"a", "b"}));
  EXPECT_EQ(outcomes.put("n1", {about("n1", "a"), about("n1", "b")}), Names());
  EXPECT_EQ(outcomes.put("n2", {about("n2", "a")}), Names{"a"});
  EXPECT_EQ(outcomes.put("n1", {about("n1", "a", NodeProgress::kFailed)}), (Names{"b", "a"}));
  ASSERT_EQ(outcomes.of("a").size(), 2u);
  EXPECT_EQ(outcomes.of("a").front().progress, NodeProgress::kFailed);
  EXPECT_TRUE(outcomes.of("b").empty());
  EXPECT_EQ(outcomes.put("n1", {}), Names{"a"});
  EXPECT_EQ(outcomes.of("a").size(), 1u);
}

}  // namespace
}  // namespace railbed::controller
