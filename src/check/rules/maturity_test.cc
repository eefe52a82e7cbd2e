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
  EXPECT_EQ(in_words({.since = "0.1", .right = 2, .wrong = 1, .repositories = 1, .promoted = "no parser reads it"}),
            "stable since 0.1: no parser reads it (2 right, 1 wrong in 1 unseen repositories)");
}

TEST(Maturity, ARuleIsOftenWrongByItsRecord) {
  const auto with = [](int right, int wrong) {
    return is_often_wrong({.right = right, .wrong = wrong, .repositories = 1, .promoted = ""});
  };
  EXPECT_FALSE(with(0, 0));
  EXPECT_TRUE(with(0, 1));
  EXPECT_TRUE(with(8, 1));
  EXPECT_FALSE(with(9, 1));  // one in ten
  EXPECT_TRUE(with(29, 4));
  EXPECT_FALSE(with(30, 4));  // right often enough; what was wrong is mended
  EXPECT_FALSE(with(12, 0));
}

// The record of all measurements: whole, of rules that there are, and with its consequence for each of them.
TEST(Maturity, TheRecordDecidesWhatIsAPreview) {
  const doc::Value data = data_document("judgements.yaml");
  const doc::Value::Array* measurements = doc::list_in(data, "measurements");
  ASSERT_NE(measurements, nullptr);
  ASSERT_GE(measurements->size(), 2U);
  for (const doc::Value& measurement : *measurements) {
    EXPECT_EQ(doc::text_in(measurement, "measured").size(), std::string("2026-11-27").size());
    EXPECT_NE(doc::text_in(measurement, "program"), "");
    EXPECT_NE(doc::text_in(measurement, "about"), "");
    const int all = doc::number_in(measurement, "repositories");
    const doc::Value::Array* rows = doc::list_in(measurement, "rules");
    ASSERT_NE(rows, nullptr);
    std::set<std::string> ids;
    for (const doc::Value& row : *rows) {
      const std::string id = doc::text_in(row, "id");
      EXPECT_TRUE(ids.insert(id).second) << id << " has two rows";
      EXPECT_NE(findings::explain(id), nullptr) << id;
      const int judged = doc::number_in(row, "right") + doc::number_in(row, "wrong");
      const int repositories = doc::number_in(row, "repositories");
      EXPECT_GE(judged, repositories) << id;
      EXPECT_GE(repositories, 1) << id;
      EXPECT_LE(repositories, all) << id;
      const Maturity& maturity = maturity_of(id);
      EXPECT_EQ(maturity.state == RuleState::kPreview && maturity.since == "0.1",
                is_often_wrong(maturity) && maturity.promoted.empty() && maturity.since == "0.1")
          << id << " is a preview against its record, or no preview in spite of it";
    }
  }
}

TEST(Maturity, AddsTheMeasurementsUp) {
  EXPECT_EQ(maturity_of("RB-YAML-001").right, 9);
  EXPECT_EQ(maturity_of("RB-YAML-001").wrong, 34);
  EXPECT_EQ(maturity_of("RB-ADM-005").wrong, 1);
  EXPECT_EQ(maturity_of("RB-CNI-001").state, RuleState::kPreview);
  EXPECT_EQ(maturity_of("RB-ADDR-007").state, RuleState::kPreview);
  EXPECT_EQ(maturity_of("RB-IPAM-003").state, RuleState::kStable);  // never wrong, and older than the record
}

// Grounds for each rule that has a row and is stable.
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
    const bool proven = maturity_of(id).right >= kRightForStable || !doc::text_in(row, "promoted").empty();
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
