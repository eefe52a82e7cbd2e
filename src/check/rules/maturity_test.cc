// SPDX-License-Identifier: Apache-2.0
#include "check/rules/maturity.h"

#include <map>

#include <gtest/gtest.h>

#include "check/data_files.h"
#include "check/project/rule_names.h"
#include "doc/members.h"

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

// A row in the table for each rule that is not of the first version, and grounds for each that is stable.
TEST(Maturity, TableAndRowsAgree) {
  const doc::Value data = data_document("maturity.yaml");
  const doc::Value::Array* rows = doc::list_in(data, "rules");
  ASSERT_NE(rows, nullptr);
  std::map<std::string, const doc::Value*> by_id;
  for (const doc::Value& row : *rows) {
    const std::string id = doc::text_in(row, "id");
    EXPECT_TRUE(by_id.emplace(id, &row).second) << id << " has two rows";
    EXPECT_TRUE(is_rule_name(id)) << id;
    const std::string state = doc::text_in(row, "state");
    EXPECT_TRUE(state == "preview" || state == "stable") << id << ": " << state;
    const bool proven = doc::number_in(row, "right") >= kRightForStable || !doc::text_in(row, "promoted").empty();
    EXPECT_TRUE(state == "preview" || proven) << id << " is stable without grounds";
  }
  for (const Rule& rule : all_rules()) {
    const auto row = by_id.find(std::string(rule.id));
    if (rule.since == "0.1" && rule.state == RuleState::kStable) continue;
    ASSERT_NE(row, by_id.end()) << rule.id << " has no row in data/maturity.yaml";
    EXPECT_EQ(doc::text_in(*row->second, "since"), rule.since) << rule.id;
    EXPECT_EQ(doc::text_in(*row->second, "state"), rule.state == RuleState::kPreview ? "preview" : "stable") << rule.id;
  }
}

TEST(Maturity, APreviewGivesNoError) {
  const auto source = std::make_shared<const doc::Source>(doc::Source{"a.yaml", "a: 1\n"});
  doc::Diagnostics told;
  Rule rule{.id = "RB-X-001", .summary = "x", .run = nullptr, .state = RuleState::kPreview};
  Findings(rule, told).error({source, 1, 1, 1, 0}, "wrong");
  EXPECT_EQ(told.all().front().severity, doc::Severity::kWarning);
  EXPECT_TRUE(told.all().front().preview);
  rule.state = RuleState::kStable;
  Findings(rule, told).error({source, 1, 1, 1, 0}, "wrong");
  EXPECT_EQ(told.all().back().severity, doc::Severity::kError);
}

}  // namespace
}  // namespace railbed::check
