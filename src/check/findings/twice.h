// SPDX-License-Identifier: Apache-2.0
// What is said about one object that is written twice.
//
// Why: it is a mistake only if one apply takes both: one file, one kustomization, one rendering. A page shows
// alternatives, tasks and commands are steps, files that nothing ties together are alternatives.
// Threading: pure functions.
// Failure: none.
#pragma once

#include "check/read/bundle.h"
#include "check/read/open_world.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Removes findings about one object in several blocks of a page, commands of a script or tasks of a play.
void drop_steps(const Bundle& bundle, doc::Diagnostics& findings);

// Makes notes of those about objects that nothing applies together, and removes what compares an object with itself.
void judge_duplicates(const Bundle& bundle, const World& world, doc::Diagnostics& findings);

}  // namespace railbed::check
