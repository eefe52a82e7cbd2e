// SPDX-License-Identifier: Apache-2.0
// Objects that are written more than once.
//
// Why: a complete example beside its parts, a page that repeats a manifest, two overlays with one base: the same object
// in two files is one object. Rules that count or compare read it once; a pod is never compared with itself.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <tuple>

#include "check/read/bundle.h"

namespace railbed::check {

// Group, kind, namespace and name. An unknown namespace is "default".
using Identity = std::tuple<std::string, std::string, std::string, std::string>;
Identity identity_of(const Document& document);

// Whether two values say the same: the order of keys, blanks at the end of a text and the layout of JSON in one do not
// count.
bool same_content(const doc::Value& one, const doc::Value& other);

// Moves to bundle.aside what another file has as well, with the same content.
void set_copies_aside(Bundle& bundle);

}  // namespace railbed::check
