// SPDX-License-Identifier: Apache-2.0
// metadata of every object, and the string maps that many fields use.
#pragma once

#include "api/objects.h"
#include "doc/fields.h"

namespace railbed::api {

using doc::Elsewhere;

// Reads `metadata` of the object in `reader`; the name is required.
Metadata read_metadata(doc::Fields& reader, doc::Diagnostics& out);

// Fields of metadata that people write at the top level by mistake, followed by `others`.
std::vector<Elsewhere> top_level(std::vector<Elsewhere> others = {});

// A map of strings (labels, a node selector). A value of another type is an error whose fix shows the quotes.
std::map<std::string, std::string> read_string_map(doc::Fields& reader, std::string_view key);

}  // namespace railbed::api
