// SPDX-License-Identifier: Apache-2.0
// What is said about a document depends on what it is: findings that its class takes away, and their ceilings.
//
// Why: a rule or a schema compares what is written; whether something may be missing, is filled in later or is wrong on
// purpose is known from the document's class (document_class.h) and its place. So findings are made as ever, and judged
// here, in one place.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <span>
#include <string>

#include "check/read/bundle.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Removes findings about values that an engine or a reader fills in, about what is missing where nothing has to be
// there, and about texts of which a page leaves lines out. Takes the repairs of templates away. Not for what the reader
// of files finds, which judges that itself.
void drop_unjudged(const Bundle& bundle, doc::Diagnostics& findings);

// Makes warnings of errors about what no API server gets as it is written: of all classes but manifests, carriers,
// objects of kinds that are not known, and examples that a page shows whole; of equal keys in settings of other
// programs; of lines that a program completes. The only place that decides so.
void limit_by_class(const Bundle& bundle, doc::Diagnostics& findings);

// One note per file of a template, and per block of a page with placeholders (RB-DOC-006).
void report_filled_in(const Bundle& bundle, doc::Diagnostics& findings);

// In a file that is applied, the placeholders that are left are one finding.
void fold_placeholders(const Bundle& bundle, doc::Diagnostics& findings);

// Makes warnings of errors in folders of test data, whose files may be wrong on purpose. `given`: the files and folders
// that the user named; of an absolute path only the part below one of them counts.
void limit_in_test_data(std::span<const std::string> given, doc::Diagnostics& findings);

// Whether a document of a manifest file without a kind may be a manifest that lost it.
bool may_lack_its_kind(const doc::Value& value);

}  // namespace railbed::check
