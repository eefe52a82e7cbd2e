// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259) into Value with spans, and back.
//
// Why an own reader: nlohmann-json 3.11 keeps no positions; it is the oracle in the tests instead. Strict: no comments,
// no trailing commas, UTF-8 is checked, duplicate keys are an error with both locations. Nesting is limited to
// kMaxDepth.
// Threading: pure functions.
// Failure: diagnostics with ids RB-JSON-…; the value is then absent.
#pragma once

#include <optional>

#include "doc/diagnostic.h"
#include "doc/value.h"

namespace railbed::doc {

inline constexpr int kMaxDepth = 128;

std::optional<Value> parse_json(SourcePtr source, Diagnostics& diagnostics);

// Parses the JSON text inside `text`, a string value (spec.config of an attachment definition, an ipam block, an
// annotation). Spans point at the exact byte in the outer file, whatever the style of the string (block, quoted with
// escapes, folded). Where that is impossible (text that was not read from a file, \u escapes) they all point at the
// string, and messages name the inner line and column.
std::optional<Value> parse_embedded_json(const Value& text, Diagnostics& diagnostics);

// The same for JSON values with commas between them and no brackets around (a network's metaPlugins).
std::optional<Value> parse_embedded_json_list(const Value& text, Diagnostics& diagnostics);

// `indent` 0 writes one line without blanks, otherwise that many blanks per level. Doubles round-trip.
std::string to_json(const Value& value, int indent = 0);

}  // namespace railbed::doc
