// SPDX-License-Identifier: Apache-2.0
// Which object and which field a finding is about, found by its place.
//
// Why: who makes a finding knows the place; kind, name and path follow from it, in a text as in an object of an API
// server, whose findings have nothing else to be named by. Threading: a pure function. Failure: none; findings that
// are about no object of the bundle stay without.
#pragma once

#include "check/read/bundle.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Fills what the maker left open. Places are those of the texts that `bundle` was read from.
void name_subjects(const Bundle& bundle, doc::Diagnostics& findings);

}  // namespace railbed::check
