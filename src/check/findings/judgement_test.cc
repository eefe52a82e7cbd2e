// SPDX-License-Identifier: Apache-2.0
#include "check/findings/judgement.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "check/check.h"
#include "check/findings/baseline.h"

namespace railbed::check {
namespace {

constexpr const char* kVfs =
    "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: rail0, namespace: "
    "sriov-network-operator}\nspec:\n  resourceName: rail0\n  nodeSelector: {a: b}\n  numVfs: \"8\"\n  nicSelector: "
    "{pfNames: [ens1f0np0]}\n";

doc::SourcePtr text(const std::string& name, const std::string& content) {
  return std::make_shared<const doc::Source>(doc::Source{name, content});
}

Report judged_report(const std::string& name, const std::string& content, const Settings& settings = {}) {
  return check({text(name, content)}, {}, settings);
}

// The fingerprint of the only finding with this id.
std::string print_of(const Report& report, std::string_view id) {
  std::string found;
  const std::vector<std::string> prints = fingerprints(report.findings);
  for (size_t i = 0; i < prints.size(); ++i)
    if (report.findings.all()[i].id == id) found += prints[i];
  return found;
}

std::string page(const std::string& manifest) {
  return "# Rails\n\n```yaml\n" + manifest + "```\n";
}

TEST(Judgement, AFingerprintIsOfTheMistakeAndNotOfItsPlace) {
  const std::string print = print_of(judged_report("a.yaml", kVfs), "RB-API-004");
  EXPECT_EQ(print.size(), 16u);
  const std::string moved = "# words\n\n" + std::string(kVfs);
  EXPECT_EQ(print_of(judged_report("a.yaml", moved), "RB-API-004"), print) << "lines moved";
  EXPECT_EQ(print_of(judged_report("x/b.yaml", kVfs), "RB-API-004"), print) << "the file was renamed";
  std::string other = kVfs;
  other.replace(other.find("\"8\""), 3, "\"9\"");
  EXPECT_NE(print_of(judged_report("a.yaml", other), "RB-API-004"), print) << "another value";
  other = kVfs;
  other.replace(other.find("name: rail0"), 11, "name: rail1");
  EXPECT_NE(print_of(judged_report("a.yaml", other), "RB-API-004"), print) << "another object";
}

TEST(Judgement, WhatAPageShowsAsWrongIsLessSure) {
  const auto confidence = [](const std::string& heading) {
    const Report report = judged_report("a.md", heading + "\n\n```yaml\n" + kVfs + "```\n");
    for (const doc::Diagnostic& one : report.findings.all())
      if (one.id == "RB-API-004") return std::string(confidence_name(one.confidence));
    return std::string();
  };
  EXPECT_EQ(confidence("# Rails"), "high");
  EXPECT_EQ(confidence("# Rails that the API server refuses (should fail)"), "medium");
  EXPECT_EQ(confidence("# Rails\n\nAn invalid policy:"), "medium");
}

TEST(Judgement, EqualMistakesGetNumbers) {
  doc::Diagnostics findings;
  for (const char* print : {"aa", "bb", "aa", "aa"}) findings.error("RB-API-004", {}, "x").fingerprint = print;
  EXPECT_EQ(fingerprints(findings), (std::vector<std::string>{"aa", "bb", "aa-2", "aa-3"}));
}

TEST(Judgement, WithoutANameTheFileAndTheNumberOfTheDocumentCount) {
  const std::string nameless = "apiVersion: v1\nkind: Pod\nmetadata: {}\nspec: {containers: [{name: c, image: 1}]}\n";
  const std::string first = print_of(judged_report("a.yaml", nameless), "RB-API-004");
  EXPECT_FALSE(first.empty());
  EXPECT_NE(print_of(judged_report("b.yaml", nameless), "RB-API-004"), first);
  const std::string second = "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n---\n" + nameless;
  EXPECT_NE(print_of(judged_report("a.yaml", second), "RB-API-004"), first);
}

const doc::Diagnostic* find(const Report& report, std::string_view id) {
  const auto found = std::ranges::find(report.findings.all(), id, &doc::Diagnostic::id);
  return found == report.findings.all().end() ? nullptr : &*found;
}

TEST(Judgement, OfAManifestARepairIsSafeAndOfAPageItIsSuggested) {
  const Report manifest = judged_report("a.yaml", kVfs);
  const doc::Diagnostic* finding = find(manifest, "RB-API-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->document_class, "manifest");
  EXPECT_EQ(finding->applicability, doc::Applicability::kSafe);
  EXPECT_EQ(finding->confidence, doc::Confidence::kHigh);
  const Report on_page = judged_report("a.md", page(kVfs));
  finding = find(on_page, "RB-API-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->document_class, "page");
  EXPECT_EQ(finding->applicability, doc::Applicability::kSuggested);
  EXPECT_EQ(finding->confidence, doc::Confidence::kHigh) << "the text alone shows it";
  EXPECT_EQ(on_page.repairs.size(), 1u);
  Settings settings;
  settings.least_repair = doc::Applicability::kSafe;
  EXPECT_TRUE(judged_report("a.md", page(kVfs), settings).repairs.empty());
  EXPECT_EQ(judged_report("a.yaml", kVfs, settings).repairs.size(), 1u);
}

// The class that a project file gives to a file named "a.yaml".
struct Given {
  Policy policy;
  Settings settings;

  explicit Given(const std::string& project) {
    doc::Diagnostics problems;
    policy.projects = {*read_project_file(text("railbed.yaml", project), problems)};
    policy.places["a.yaml"] = {.project = 0, .path = "a.yaml"};
    settings.policy = &policy;
  }
};

TEST(Judgement, AFixtureGivesNoErrorAndIsNotRepaired) {
  const Given given("class: {a.yaml: fixture}\n");
  const Report report = judged_report("a.yaml", kVfs, given.settings);
  const doc::Diagnostic* finding = find(report, "RB-API-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, doc::Severity::kWarning);
  EXPECT_EQ(finding->why, "the project file says that the file is a fixture, which may be wrong on purpose");
  EXPECT_EQ(finding->fix, "");
  EXPECT_TRUE(report.repairs.empty());
}

TEST(Judgement, OfATemplateNothingIsMissing) {
  const Given given("class: {a.yaml: template}\n");
  const std::string part = "apiVersion: v1\nkind: Pod\nmetadata: {}\nspec: {containers: [{image: 1}]}\n";
  EXPECT_NE(find(judged_report("a.yaml", part), "RB-API-006"), nullptr);
  const Report report = judged_report("a.yaml", part, given.settings);
  EXPECT_EQ(find(report, "RB-API-006"), nullptr);
  ASSERT_NE(find(report, "RB-API-004"), nullptr);
  EXPECT_EQ(find(report, "RB-API-004")->confidence, doc::Confidence::kMedium);
  EXPECT_EQ(report.sure_errors(), 0u);
}

TEST(Judgement, WhatAProjectIgnoresIsCountedAndKept) {
  const Given given("ignore: {a.yaml: {ids: [RB-API], reason: old}}\n");
  const Report report = judged_report("a.yaml", kVfs, given.settings);
  EXPECT_EQ(find(report, "RB-API-004"), nullptr);
  EXPECT_EQ(report.suppressed, 1);
  ASSERT_EQ(report.ignored.size(), 1u);
  EXPECT_EQ(report.ignored[0].reason, "old");
  EXPECT_EQ(report.ignored[0].by, Ignored::By::kProject);
  EXPECT_EQ(report.used_ignores, (std::set<IgnoreEntry>{{0, 0, 0}}));
  EXPECT_TRUE(report.repairs.empty()) << "what is ignored stays as it is";
}

TEST(Judgement, ASeverityThatAPersonSetIsSure) {
  const Given given("severity: {RB-API-004: warning}\n");
  const Report report = judged_report("a.yaml", kVfs, given.settings);
  EXPECT_EQ(find(report, "RB-API-004")->severity, doc::Severity::kWarning);
  EXPECT_EQ(report.sure_errors(), 0u);
}

// A file that was not read is the first thing to know, and was the last in the order of places.
TEST(Judgement, AFileThatWasNotReadIsSeenAmongTenThousandFindings) {
  std::string many;
  for (int pod = 0; pod < 15; ++pod) {
    many += fmt::format("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: a{}}}\nspec:\n  containers:\n  - name: c\n",
                        pod);
    for (int i = 0; i < 900; ++i) many += fmt::format("    unknown{}: 1\n", i);
  }
  const Report report = check({text("a.yaml", many), text("b.yaml", std::string(kMaxCheckedBytes + 1, ' '))}, {}, {});
  EXPECT_EQ(report.findings.all().size(), kMaxFindings);
  EXPECT_GT(report.left_out, 0);
  ASSERT_NE(find(report, "RB-DOC-003"), nullptr);
  ASSERT_EQ(report.coverage.not_read.size(), 1u);
  EXPECT_EQ(report.coverage.not_read[0].name, "b.yaml");
}

TEST(Baseline, KnowsItsFindingsAgainAndCountsThoseThatAreGone) {
  Report before = check({text("a.yaml", kVfs), text("b.yaml", "kind: [\n---\nkind: [\n")}, {}, {});
  const std::string written = Baseline::of(before).to_json();
  const auto baseline = Baseline::read(text("baseline.json", written));
  ASSERT_TRUE(baseline) << baseline.error().to_string();
  EXPECT_EQ(baseline->to_json(), written);
  Report now = check(
      {text("a.yaml", "\n" + std::string(kVfs)), text("b.yaml", "kind: [\n---\nkind: [\n---\nkind: [\n")}, {}, {});
  size_t gone = 0;
  const size_t all = now.findings.all().size();
  const size_t known = baseline->remove_known(now, "in the baseline", &gone);
  EXPECT_EQ(known, before.findings.all().size());
  EXPECT_EQ(now.findings.all().size(), all - known);
  EXPECT_EQ(now.findings.all().size(), 1u) << "the third of three equal ones is new";
  EXPECT_EQ(gone, 0u);
  EXPECT_EQ(now.ignored.size(), known);
  Report none;
  baseline->remove_known(none, "", &gone);
  EXPECT_EQ(gone, 3u);
}

TEST(Baseline, HasALinePerFinding) {
  Report report;
  EXPECT_EQ(Baseline::of(report).to_json(),
            "{\n  \"apiVersion\": \"railbed.dev/v1\",\n  \"kind\": \"CheckBaseline\",\n  \"findings\": []\n}\n");
  for (int i = 0; i < 2; ++i) {
    doc::Diagnostic& finding = report.findings.error("RB-API-004", {}, "x");
    finding.fingerprint = "00ff";
    finding.subject = {.kind = "Pod", .object = "a", .field = "spec.x"};
  }
  report.findings.error("RB-API-003", {}, "y").fingerprint = "00fe";
  EXPECT_EQ(Baseline::of(report).to_json(),
            "{\n  \"apiVersion\": \"railbed.dev/v1\",\n  \"kind\": \"CheckBaseline\",\n  \"findings\": [\n"
            "    {\"id\":\"RB-API-003\",\"fingerprint\":\"00fe\"},\n"
            "    {\"id\":\"RB-API-004\",\"subject\":\"Pod a: spec.x\",\"fingerprint\":\"00ff\",\"count\":2}\n  ]\n}\n");
}

TEST(Baseline, OfAnotherFormIsRefusedWithItsPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "b.json:1:1: the document must be an object (keys with values), found a list"},
      {"{\"apiVersion\": \"railbed.dev/v1\", \"kind\": \"CheckReport\", \"findings\": []}",
       "b.json:1:42: kind must be \"CheckBaseline\", found \"CheckReport\""},
      {"{\"apiVersion\": \"railbed.dev/v1\", \"kind\": \"CheckBaseline\"}", "b.json:1:1: findings is missing"},
      {"{\"apiVersion\": \"railbed.dev/v1\", \"kind\": \"CheckBaseline\", \"findings\": [{\"id\": \"RB-API-001\"}]}",
       "b.json:1:72: findings[0].fingerprint is missing"},
  };
  for (const auto& [content, wanted] : cases) {
    const auto read = Baseline::read(text("b.json", content));
    ASSERT_FALSE(read) << content;
    EXPECT_EQ(read.error().message, wanted);
  }
  EXPECT_FALSE(Baseline::read(text("b.json", "{")));
  EXPECT_FALSE(Baseline::read(text("b.json", "")));
}

}  // namespace
}  // namespace railbed::check
