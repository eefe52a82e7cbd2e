// SPDX-License-Identifier: Apache-2.0
// metadata of every object, and the string maps that many fields use.
//
// Threading: pure functions. Failure: diagnostics about names; what the schema reports is absent here.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// `metadata` of `object`.
Metadata read_metadata(const doc::Value& object, doc::Diagnostics& out);

// A map of strings in `object` (labels, a node selector).
std::map<std::string, std::string> read_string_map(const doc::Value& object, std::string_view key);

}  // namespace railbed::api
