// SPDX-License-Identifier: Apache-2.0
// Rebuilds an object whose indentation or line breaks were lost, with the schema of its kind.
//
// A key descends into the object of the key before it if that object has a field of this name; otherwise it climbs to
// the nearest enclosing object that has such a field and not yet a value for it. "- " continues the nearest list that
// accepts such items. A key that no object knows stays in place, so that misspelt fields are reported as such. The
// object ends where text begins that is neither key nor value, also if that is joined to the last value
// ("falsewhere:"). Embedded JSON ends with its last bracket.
// Threading: pure.
// Failure: `whole` is false if the kind has no schema; the value then has kind and apiVersion only.
#pragma once

#include "doc/text.h"
#include "doc/value.h"

namespace railbed::check {

struct Rebuilt {
  doc::Value value;
  size_t end = 0;  // where the text after it begins
  bool whole = false;
  bool one_line = false;  // line breaks were lost as well
};

// `begin` is the place of `apiVersion:`, `end` that of the next object or the end of the text.
Rebuilt rebuild_object(const doc::SourcePtr& source, const doc::LineIndex& index, size_t begin, size_t end);

}  // namespace railbed::check
