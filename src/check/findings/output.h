// SPDX-License-Identifier: Apache-2.0
// A report of `railbed check` in the formats for people and continuous integration.
//
// SARIF follows OASIS SARIF 2.1.0 (columns in Unicode characters) and what GitHub's code scanning takes of it, JUnit
// the schema that Jenkins and GitLab read, GitHub the workflow commands `::error file=…`. Threading: pure functions.
// Failure: none.
#pragma once

#include <map>
#include <string>

#include "base/paint.h"
#include "check/check.h"

namespace railbed::check {

// Code scanning keeps so many results of a run, and refuses a file with five times as many.
inline constexpr size_t kMaxSarifResults = 5'000;

struct SarifOptions {
  std::string root;     // the folder that URIs are relative to: that of the repository; absolute, empty: not known
  std::string folder;   // the folder that relative names begin at; absolute, empty: not known
  bool notes = false;   // findings of severity note are results, too
  int exit_status = 0;  // of this run
  // What a folder was rendered from, by the folder: "charts/x" → "charts/x/Chart.yaml".
  std::map<std::string, std::string> rendered_from;
};

// Findings with their lines.
std::string findings_text(const Report& report, Colour colour);
// The same, then what was not looked at, and a last line with the numbers of findings.
std::string to_text(const Report& report, Colour colour = Colour::kNo);
// "2 errors, 1 warning, 0 notes in 5 objects and 1 command, on 2 nodes".
std::string summary(const Report& report);
// "9 manifests, 1 page; not read: 2 files (a Helm template)"; empty where all documents are manifests and were read.
std::string coverage_text(const Coverage& coverage);
// `kind: CheckReport`, as docs/schemas/CheckReport.json says.
doc::Value to_value(const Report& report);
doc::Value to_value(const Coverage& coverage);
std::string to_sarif(const Report& report, const SarifOptions& options = {});
std::string to_junit(const Report& report);
std::string to_github(const Report& report);
// For a person who reads it in a merge request or a job's summary: a table of findings per file.
std::string to_markdown(const Report& report);
// A table of the well-known mistakes (data/mistakes.yaml) with the places where the documents make them.
std::string to_mistakes(const Report& report);

}  // namespace railbed::check
