// SPDX-License-Identifier: Apache-2.0
// A report of `railbed check` in the forms that people and continuous integration read.
//
// SARIF follows OASIS SARIF 2.1.0 (columns in Unicode characters), JUnit the schema that Jenkins and GitLab
// read, GitHub the workflow commands `::error file=…`.
// Threading: pure functions. Failure: none.
#pragma once

#include <string>

#include "check/check.h"

namespace railbed::check {

// Findings with their lines, and a last line with their numbers.
std::string to_text(const Report& report);
std::string to_json(const Report& report);
std::string to_sarif(const Report& report);
std::string to_junit(const Report& report);
std::string to_github(const Report& report);
// A table of the well-known mistakes (data/mistakes.yaml) with the places where the documents make them, and a table of
// all findings.
std::string to_markdown(const Report& report);

}  // namespace railbed::check
