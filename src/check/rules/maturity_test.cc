// SPDX-License-Identifier: Apache-2.0
#include "check/rules/maturity.h"

#include <set>

#include <gtest/gtest.h>

#include "check/data_files.h"
#include "doc/members.h"
#include "findings/explain.h"

namespace railbed::check {
namespace {

TEST(Maturity, OfARuleOfTheFirstVersionIsStable) {
  EXPECT_EQ(maturity_of("RB-ADDR-001").state, RuleState::kStable);
  EXPECT_EQ(in_words(maturity_of("RB-ADDR-001")), "stable since 0.1");
}

TEST(Maturity, InWordsSaysWhatIsMissing) {
  EXPECT_EQ(
      in_words(
          {.since = "0.2", .state = RuleState::kPreview, .right = 12, .wrong = 1, .repositories = 5, .promoted = ""}),
      "preview since 0.2: its errors are warnings until it was right 30 times (12 right, 1 wrong in 5 unseen "
      "repositories)");
  EXPECT_EQ(in_words({.since = "0.2", .promoted = "the API server refuses it"}),
            "stable since 0.2: the API server refuses it");
  EXPECT_EQ(in_words({.since = "0.2", .right = 31, .repositories = 9, .promoted = ""}),
            "stable since 0.2 (31 right, 0 wrong in 9 unseen repositories)");
}

// Grounds for each rule that is stable.
TEST(Maturity, TheTableNamesRulesAndGrounds) {
  const doc::Value data = data_document("maturity.yaml");
  const doc::Value::Array* rows = doc::list_in(data, "rules");
  ASSERT_NE(rows, nullptr);
  std::set<std::string> ids;
  for (const doc::Value& row : *rows) {
    const std::string id = doc::text_in(row, "id");
    EXPECT_TRUE(ids.insert(id).second) << id << " has two rows";
    EXPECT_NE(findings::explain(id), nullptr) << id;
    EXPECT_NE(doc::text_in(row, "since"), "") << id;
    const std::string state = doc::text_in(row, "state");
    EXPECT_TRUE(state == "preview" || state == "stable") << id << ": " << state;
    const bool proven = doc::number_in(row, "right") >= kRightForStable || !doc::text_in(row, "promoted").empty();
    EXPECT_EQ(state == "stable", proven) << id << " is stable without grounds, or a preview with them";
  }
  for (const Rule& rule : all_rules()) {
    EXPECT_EQ(rule.since, maturity_of(rule.id).since) << rule.id;
    EXPECT_EQ(rule.state, maturity_of(rule.id).state) << rule.id;
  }
}

TEST(Maturity, APreviewGivesNoError) {
  const auto source = std::make_shared<const doc::Source>(doc::Source{"a.yaml", "a: 1\n"});
  doc::Diagnostics reported;
  Rule rule{.id = "RB-X-001", .summary = "x", .run = nullptr, .state = RuleState::kPreview};
  Findings(rule, reported).error({source, 1, 1, 1, 0}, "wrong");
  EXPECT_EQ(reported.all().front().severity, doc::Severity::kWarning);
  EXPECT_TRUE(reported.all().front().preview);
  rule.state = RuleState::kStable;
  Findings(rule, reported).error({source, 1, 1, 1, 0}, "wrong");
  EXPECT_EQ(reported.all().back().severity, doc::Severity::kError);
}

}  // namespace
}  // namespace railbed::check
