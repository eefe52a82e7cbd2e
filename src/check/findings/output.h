// SPDX-License-Identifier: Apache-2.0
// A report of `railbed check` in the formats for people and continuous integration.
//
// SARIF follows OASIS SARIF 2.1.0 (columns in Unicode characters), JUnit the schema that Jenkins and GitLab read,
// GitHub the workflow commands `::error file=…`.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>

#include "base/paint.h"
#include "check/check.h"

namespace railbed::check {

// Findings with their lines.
std::string findings_text(const Report& report, Colour colour);
// The same, then what was not looked at, and a last line with the numbers of findings.
std::string to_text(const Report& report, Colour colour = Colour::kNo);
// "2 errors, 1 warning, 0 notes in 5 objects and 1 command, on 2 nodes".
std::string summary(const Report& report);
// `kind: CheckReport`, as docs/schemas/CheckReport.json says.
doc::Value to_value(const Report& report);
std::string to_sarif(const Report& report);
std::string to_junit(const Report& report);
std::string to_github(const Report& report);
// For a person who reads it in a merge request or a job's summary: a table of findings per file.
std::string to_markdown(const Report& report);
// A table of the well-known mistakes (data/mistakes.yaml) with the places where the documents make them.
std::string to_mistakes(const Report& report);

}  // namespace railbed::check
