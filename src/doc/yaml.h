// SPDX-License-Identifier: Apache-2.0
// YAML streams into Values with spans, and back. JSON files (they begin with '{' or '[') are also read through here.
//
// Built on libyaml's events. Scalars are resolved as Kubernetes does (YAML 1.1 booleans: y, yes, on, true, in three
// capitalisations; octal 0o17 and 017; null, ~; quoted scalars are strings). Anchors and aliases are expanded up to a
// limit, merge keys (<<) are applied, nesting is limited to kMaxDepth. Keys are read verbatim; a duplicate key is an
// error with both locations, and its first value is kept.
// Threading: pure functions.
// Failure: diagnostics with ids RB-YAML-…: line and column, the source line, and for wrong indentation the column of
// the siblings. A broken document is skipped; the documents before and after it ("---") are still returned. Documents
// without content are skipped silently.
#pragma once

#include <optional>
#include <vector>

#include "doc/diagnostic.h"
#include "doc/text.h"
#include "doc/value.h"

namespace railbed::doc {

inline constexpr size_t kMaxSourceBytes = 256u << 20;

std::vector<Value> parse_yaml(SourcePtr source, Diagnostics& diagnostics);

// The first document of the YAML inside `text`, a string value (NFD's configData). Places are those in the file, as
// with parse_embedded_json; null where there is no document.
std::optional<Value> parse_embedded_yaml(const Value& text, Diagnostics& diagnostics);

// A part of a source that is YAML or JSON by itself: a fenced block of Markdown, a value in running text.
struct Region {
  size_t begin = 0;
  size_t end = 0;
  // This many columns at the beginning of each line do not belong to it (a fence in a list item); "---" lines come
  // after them.
  size_t indent = 0;
};
// The documents of a region; spans point into the source. `index` belongs to the source, so that many regions of a
// large file share it. Linear in the size of the region.
std::vector<Value> parse_yaml(const SourcePtr& source, const LineIndex& index, Region region, Diagnostics& diagnostics);

// The lines of a block scalar (`|`, `>`), for texts that contain YAML; nullopt for a text in another style or without a
// source.
std::optional<Region> block_region(const Value& text);

// In block style; a text of several lines as a literal block; with quotes where a reader would otherwise take a text
// for something else. Parses to the same value (but infinite and undefined numbers become null).
std::string to_yaml(const Value& value);

}  // namespace railbed::doc
