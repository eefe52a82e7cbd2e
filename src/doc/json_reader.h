// SPDX-License-Identifier: Apache-2.0
// The JSON grammar over any text. The caller supplies the locations: of a file, or of a text embedded in one.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "doc/diagnostic.h"
#include "doc/value.h"

namespace railbed::doc {

// The place of `length` bytes at `offset` of the text.
using PlaceOf = std::function<Span(size_t offset, size_t length)>;

std::optional<Value> read_json(std::string_view text, const PlaceOf& place_of, Diagnostics& diagnostics);

}  // namespace railbed::doc
