// SPDX-License-Identifier: Apache-2.0
// What can be said of a finding beside its words: the class of its document, how sure it is, whether a machine may
// repair it, and by what the same mistake is recognized in a later version of the text.
//
// Why: the code that creates a finding knows one rule. What follows from the document (a page only shows, a template is
// filled in later, a fixture may be wrong on purpose) is the same for all rules, so it is decided in one place.
//
// A fingerprint is a hash of the rule, the object (kind, namespace and name; the file and the number of the document in
// it where it has no name), the path of the field and its value. Lines, columns and wording are not in it, so a finding
// keeps its fingerprint while lines move and messages are rewritten.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "check/read/bundle.h"
#include "check/rules/rule.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Judges the findings whose places are those of the texts that `bundle` was read from; those that are judged already
// stay. Their subjects are named (name_subjects). Removes what a template may lack, and repairs of texts that are not
// the user's own to repair.
void judge(const Bundle& bundle, const Settings& settings, doc::Diagnostics& findings);

// The fingerprints of all findings, in their order. Equal ones get a number: "…-2".
std::vector<std::string> fingerprints(const doc::Diagnostics& findings);

// Whether a run fails for this finding: an error that is sure.
inline bool is_sure_error(const doc::Diagnostic& finding) {
  return finding.severity == doc::Severity::kError && finding.confidence == doc::Confidence::kHigh;
}

}  // namespace railbed::check
