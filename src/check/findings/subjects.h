// SPDX-License-Identifier: Apache-2.0
// The object and the field of a finding, derived from its location.
//
// Why: the code that creates a finding knows the location; kind, name and path follow from it, in a text as well as in
// an object of an API server, whose findings have no other identification.
// Threading: a pure function.
// Failure: none; findings that are about no object of the bundle have none.
#pragma once

#include "check/read/bundle.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Whether another object or block begins between the beginning of `object` and a place below it: one that could not be
// read, so that no document knows it.
bool another_object_begins(const doc::Span& object, const doc::Span& place);

// Fills what the maker left open. Places are those of the texts that `bundle` was read from.
void name_subjects(const Bundle& bundle, doc::Diagnostics& findings);

}  // namespace railbed::check
