// SPDX-License-Identifier: Apache-2.0
// Every folder of testdata/check is an id. bad* is checked and what is reported is compared with bad*.expected as
// a whole (and what --fix writes with bad*.fixed, where there is one); the id must be among it. good* gives
// no finding at all. testdata/bundles holds whole correct bundles: none of them gives a finding.
// RAILBED_UPDATE=1 writes the expected files again; read the difference before you commit it.
// First line of a file: `# facts: seed-six-cx7, lab` (Markdown: <!-- facts: … -->), nodes of
// testdata/machines.
#include <algorithm>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "check/case_files.h"
#include "check/findings/output.h"
#include "findings/explain.h"

namespace railbed::check {
namespace {

namespace fs = std::filesystem;

using testing_cases::files_in;

Report report_of_file(const fs::path& path) {
  return testing_cases::report_of(path.filename().string(), content(path));
}

bool is_expectation(const fs::path& path) {
  return path.extension() == ".expected" || path.extension() == ".fixed";
}

class RuleCase : public testing::TestWithParam<std::string> {};

TEST_P(RuleCase, ReportsWhatIsExpectedAndNothingWhereAllIsRight) {
  const std::string& id = GetParam();
  EXPECT_NE(findings::explain(id), nullptr) << "no section of docs/check explains " << id;
  int bad = 0;
  int good = 0;
  for (const fs::path& path : files_in(testdata() / "check" / id)) {
    if (is_expectation(path)) continue;
    const Report report = report_of_file(path);
    const std::string name = path.filename();
    if (name.starts_with("bad")) {
      ++bad;
      expect_golden(fs::path(path).replace_extension(".expected"), to_text(report));
      EXPECT_TRUE(std::ranges::any_of(report.findings.all(), [&](const auto& f) { return f.id == id; }))
          << path << " does not give " << id << ":\n"
          << to_text(report);
      const fs::path fixed = fs::path(path).replace_extension(".fixed");
      if (fs::exists(fixed)) expect_golden(fixed, report.repairs.empty() ? "" : report.repairs[0].after->text);
    } else {
      ++good;
      EXPECT_TRUE(report.findings.all().empty()) << path << "\n" << to_text(report);
    }
  }
  EXPECT_GT(bad, 0) << "no case testdata/check/" << id << "/bad*";
  EXPECT_GT(good, 0) << "no case testdata/check/" << id << "/good*";
}

// All ids that have a folder or need one: those of the rules, and those that readers and schemas report.
std::set<std::string> ids_with_cases() {
  std::set<std::string> ids;
  for (const Rule& rule : all_rules()) ids.emplace(rule.id);
  for (const auto& entry : fs::directory_iterator(testdata() / "check"))
    if (entry.is_directory()) ids.insert(entry.path().filename());
  return ids;
}

// Ids that only `plan` and `up` report, about objects that no manifest describes or facts that no machine here has; and
// those of project files (project/project_file_test.cc).
constexpr std::string_view kWithoutCase[] = {
    "RB-API-009",    "RB-API-013",     "RB-CNI-008",     "RB-IPAM-009",   "RB-JSON-006",   "RB-NET-010",
    "RB-PF-104",     "RB-POD-002",     "RB-POD-003",     "RB-POD-005",    "RB-POD-006",    "RB-POLICY-003",
    "RB-POLICY-004", "RB-POLICY-005",  "RB-POLICY-006",  "RB-POLICY-007", "RB-POLICY-013", "RB-POLICY-014",
    "RB-YAML-013",   "RB-PROJECT-001", "RB-PROJECT-002", "RB-PROJECT-003"};

TEST(RulesTest, EveryExplainedIdHasACase) {
  const std::set<std::string> ids = ids_with_cases();
  for (const findings::Explanation& explanation : findings::explanations()) {
    if (!explanation.is_about_text()) continue;  // tests/tidy looks for its case ("findings tested")
    if (std::ranges::find(kWithoutCase, explanation.id) != std::end(kWithoutCase)) continue;
    EXPECT_TRUE(ids.contains(std::string(explanation.id)))
        << "no folder testdata/check/" << explanation.id << ", but a story in " << explanation.page;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleCase, testing::ValuesIn(ids_with_cases()), test_name);

class GoodBundle : public testing::TestWithParam<std::string> {};

TEST_P(GoodBundle, GivesNoFinding) {
  const Report report = report_of_file(testdata() / "bundles" / GetParam());
  EXPECT_TRUE(report.findings.all().empty()) << to_text(report);
  EXPECT_GT(report.objects(), 0);
}

std::vector<std::string> bundles() {
  std::vector<std::string> names;
  for (const fs::path& path : files_in(testdata() / "bundles")) names.push_back(path.filename());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Bundles, GoodBundle, testing::ValuesIn(bundles()), test_name);

TEST(RulesTest, IdsAndSummariesAreGivenOnce) {
  std::set<std::string_view> ids;
  for (const Rule& rule : all_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.summary.empty()) << rule.id;
  }
}

}  // namespace
}  // namespace railbed::check
