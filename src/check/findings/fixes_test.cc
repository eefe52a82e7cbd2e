// SPDX-License-Identifier: Apache-2.0
// What a fix leads to, over all cases of testdata/check: after any single one no finding is there that was not there
// before and is more severe than the one that it repairs.
#include <set>

#include <gtest/gtest.h>

#include "check/case_files.h"
#include "check/findings/judgement.h"
#include "doc/edits.h"

namespace railbed::check {
namespace {

std::set<std::string> prints_of(const Report& report) {
  std::set<std::string> all;
  for (const doc::Diagnostic& finding : report.findings.all()) all.insert(finding.fingerprint);
  return all;
}

// The findings of `now` that are more severe than `repaired` and were not there `before`.
std::string worse(const std::set<std::string>& before, const Report& now, const doc::Diagnostic& repaired) {
  std::string out;
  for (const doc::Diagnostic& finding : now.findings.all())
    if (finding.severity > repaired.severity && !before.contains(finding.fingerprint)) out += doc::render(finding);
  return out;
}

TEST(Fixes, LeadToNothingThatIsWorse) {
  int fixes = 0;
  for (const auto& path : testing_cases::files_in(testdata() / "check")) {
    const std::string name = path.filename().string();
    if (!name.starts_with("bad") || path.extension() == ".expected" || path.extension() == ".fixed") continue;
    const std::string text = content(path);
    const Report report = testing_cases::report_of(name, text);
    const std::set<std::string> before = prints_of(report);
    for (const doc::Diagnostic& finding : report.findings.all()) {
      if (finding.applicability == doc::Applicability::kNone) continue;
      // Edits of a later round are for a text that is repaired already.
      const doc::SourcePtr& source = finding.edits.front().source;
      if (source->text != text) continue;
      const doc::EditedText edited(source, std::vector<doc::EditedText::Group>{finding.edits});
      const Report after = testing_cases::report_of(name, edited.after()->text);
      EXPECT_EQ(worse(before, after, finding), "") << path << " after the fix of " << doc::render(finding);
      ++fixes;
    }
  }
  EXPECT_GT(fixes, 30);
}

// A text that is not the user's own is not repaired, and nothing is advised that would break it.
TEST(Fixes, AreForManifestsAndPagesAlone) {
  for (const auto& path : testing_cases::files_in(testdata() / "check")) {
    const std::string name = path.filename().string();
    if (!name.starts_with("bad") || path.extension() == ".expected" || path.extension() == ".fixed") continue;
    const Report report = testing_cases::report_of(name, content(path));
    for (const doc::Diagnostic& finding : report.findings.all()) {
      // "other" is what its author wrote, too: a manifest with a misspelt kind is one.
      const std::string& is = finding.document_class;
      const bool repairable = is.empty() || is == "manifest" || is == "page" || is == "other";
      if (repairable) continue;
      EXPECT_EQ(finding.fix, "") << path << "\n" << doc::render(finding);
      EXPECT_EQ(finding.applicability, doc::Applicability::kNone) << path;
    }
  }
}

}  // namespace
}  // namespace railbed::check
