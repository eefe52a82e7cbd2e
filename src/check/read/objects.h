// SPDX-License-Identifier: Apache-2.0
// Objects without a source text, and which object a location belongs to.
//
// Why: objects of an API server have neither files nor lines, and the rules apply to them as to manifests. So each gets
// synthetic locations: a Source without text that is named after the object, with a number for every field. A finding
// carries its location from rule to rule as it does in a text, and in the end the number identifies the field.
// Threading: pure functions; ObjectIndex points into the bundle, which must outlive it.
// Failure: none; values without `kind` are skipped.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "check/read/bundle.h"

namespace railbed::check {

// The objects as they are, those of a List one by one. Places that they had are replaced.
Bundle bundle_of(std::vector<doc::Value> objects);

// Whether it is the place of a field in an object without text.
inline bool is_without_text(const doc::Span& place) {
  return place.source != nullptr && place.line == 0 && place.source->text.empty();
}

// The field of `object` at a place: "spec.nicSelector.pfNames[0]"; empty for the object itself. In a text it is the
// last field that begins at or before the place, so that a place inside an embedded text is that of the text.
std::string field_at(const doc::Value& object, const doc::Span& place);

// The objects of a bundle by place.
class ObjectIndex {
 public:
  explicit ObjectIndex(const Bundle& bundle);
  // The object around a place: the last one of the source that begins at or before it; null where there is none.
  const Document* at(const doc::Span& place) const;

 private:
  std::map<std::pair<const doc::Source*, uint32_t>, const Document*> by_begin_;
};

}  // namespace railbed::check
