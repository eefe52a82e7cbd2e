// SPDX-License-Identifier: Apache-2.0
// The parsers of the kinds that manifests are read for, and names of kinds that are nearly right.
//
// Why apart from the table (base/kinds.h): a row knows no parser, so that libraries below this one can use it.
// Threading: pure functions over constant tables.
// Failure: none.
#pragma once

#include <string>
#include <string_view>

#include "api/compare.h"
#include "api/objects.h"
#include "base/kinds.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// Adds the object to those of its kind; with findings instead where it has errors.
using Parse = void (*)(const Kind& kind, const doc::Value& document, StatusPart status, doc::Diagnostics& out,
                       Objects& objects);

// Null for a kind whose objects are counted and left alone.
Parse parser_of(const Kind& kind);
// The known kind that was probably intended; empty when none is close.
std::string nearest_kind(std::string_view name);

}  // namespace railbed::api
