// SPDX-License-Identifier: Apache-2.0
// One bundle in every form of output, compared as a whole with testdata/check-output (RAILBED_UPDATE=1
// writes).
#include "check/findings/output.h"

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "doc/text.h"

namespace railbed::check {
namespace {

Report report_of_example(const std::string& name) {
  const auto path = testdata() / "check-output" / name;
  return check({std::make_shared<doc::Source>(doc::Source{name, content(path)})}, {}, {});
}

TEST(OutputTest, EveryForm) {
  const Report report = report_of_example("bundle.yaml");
  const auto folder = testdata() / "check-output";
  expect_golden(folder / "report.txt", to_text(report));
  expect_golden(folder / "report.json", doc::to_json(to_value(report), 2) + "\n");
  expect_golden(folder / "report.sarif", to_sarif(report));
  expect_golden(folder / "report.xml", to_junit(report));
  expect_golden(folder / "report.github", to_github(report));
}

// What no bundle brings about at once: every severity, notes with and without a place, an edit of a later text, two
// sources, characters that the forms escape, and every number of the last line.
TEST(OutputTest, EveryFormOfWhatIsSeldom) {
  const auto first = std::make_shared<doc::Source>(doc::Source{"a,b:<1>%.yaml", "kind: \"<a> & b\"\nspec: 1\n"});
  const auto second = std::make_shared<doc::Source>(doc::Source{"second.yaml", "x\n"});
  const auto later = std::make_shared<doc::Source>(doc::Source{"second.yaml", "y\n"});
  const doc::LineIndex lines(first);
  Report report;
  report.sources = {first->name, second->name, "third.yaml"};
  doc::Diagnostics& findings = report.findings;
  findings.error("RB-API-002", lines.at(6, 9), "100 % of \"<a> & b\" is 'wrong'")
      .note(lines.at(16, 4), "because of <this>")
      .note({}, "and of nothing")
      .with_fix("write one\nor two")
      .with_edit(lines.at(6, 9), "c");
  findings.warning("RB-API-003", lines.at(16, 4), "a warning");
  findings.note("RB-XYZ-999", {second}, "a note about the whole text").with_edit(doc::LineIndex(later).at(0, 1), "z");
  findings.error("RB-API-002", doc::LineIndex(second).at(0, 1), "again");
  findings.warning("RB-API-003", {}, "without a place");
  report.kinds = {{"Pod", 1}, {"Node", 2}};
  report.unknown_kinds = {{"Gizmo", 1}};
  report.commands = 1;
  report.nodes = 2;
  report.suppressed = 3;
  const auto folder = testdata() / "check-output";
  expect_golden(folder / "seldom.txt", to_text(report));
  expect_golden(folder / "seldom.json", doc::to_json(to_value(report), 2) + "\n");
  expect_golden(folder / "seldom.sarif", to_sarif(report));
  expect_golden(folder / "seldom.xml", to_junit(report));
  expect_golden(folder / "seldom.github", to_github(report));
}

TEST(OutputTest, FactsAmongManifestsGetAHintHowToBeUsed) {
  Report report;
  report.unknown_kinds = {{"NodeFacts", 1}};
  EXPECT_TRUE(to_text(report).starts_with("not checked: NodeFacts; --facts FILE checks against them"))
      << to_text(report);
  EXPECT_EQ(to_text(report).find("does not know"), std::string::npos);
}

TEST(OutputTest, MarkdownIsATableOfFindingsPerFile) {
  const auto source = std::make_shared<doc::Source>(doc::Source{"a|b.yaml", "x: 1\n"});
  Report report;
  report.findings.error("RB-API-002", doc::LineIndex(source).at(0, 1), "a|b\x1b <i>\nc").with_fix("d|e");
  report.findings.error("RB-API-006", doc::LineIndex(source).at(3, 1), "again");
  report.findings.warning("RB-API-003", {}, "without a place");
  report.findings.warning("RB-API-004", {}, "nor this");
  EXPECT_EQ(to_markdown(report),
            "**railbed check: 2 errors, 2 warnings, 0 notes in 0 objects**\n"
            "\n### a\\|b.yaml\n\n| line | | finding | fix |\n|---|---|---|---|\n"
            "| 1 | error | a\\|b\\x1b \\<i>\\x0ac (RB-API-002) | d\\|e |\n"
            "| 1 | error | again (RB-API-006) |  |\n"
            "\n### (no file)\n\n| line | | finding | fix |\n|---|---|---|---|\n"
            "|  | warning | without a place (RB-API-003) |  |\n"
            "|  | warning | nor this (RB-API-004) |  |\n");
}

// The JSON for continuous integration is valid whatever names and messages contain.
TEST(OutputTest, JsonAndSarifAreJson) {
  const auto source = std::make_shared<doc::Source>(
      doc::Source{"a \"b\"\n.yaml", "kind: Pod\nmetadata: {name: \"\\u0007\\\"x\"}\nspec: {contaiers: [\xC3\xBC]}\n"});
  const Report report = check({source}, {}, {});
  ASSERT_FALSE(report.findings.all().empty());
  for (const std::string& text : {doc::to_json(to_value(report), 2) + "\n", to_sarif(report)}) {
    doc::Diagnostics problems;
    doc::parse_json(std::make_shared<doc::Source>(doc::Source{"out", text}), problems);
    EXPECT_EQ(doc::render(problems), "") << text;
  }
  EXPECT_EQ(to_github(report).find("\x07"), std::string::npos);
}

TEST(OutputTest, ReportsOfSeveralBundlesAddUp) {
  Report both = report_of_example("bundle.yaml");
  const size_t findings = both.findings.all().size();
  both.add(report_of_example("bundle.yaml"));
  EXPECT_EQ(both.findings.all().size(), 2 * findings);
  EXPECT_EQ(both.objects(), 4);
  EXPECT_EQ(both.unknown_kinds.at("Gizmo"), 2);
}

}  // namespace
}  // namespace railbed::check
