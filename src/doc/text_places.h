// SPDX-License-Identifier: Apache-2.0
// Maps the bytes of a string value to their positions in the file that it was read from.
//
// Why: annotations and CNI configurations are texts with their own grammar inside a manifest; their mistakes are shown
// at the exact byte.
// Threading: plain values.
// Failure: if the positions are unknown (a generated text, unusual escapes), every byte maps to the position of the
// value.
#pragma once

#include <vector>

#include "doc/value.h"

namespace railbed::doc {

class TextPlaces {
 public:
  explicit TextPlaces(const Value& text);
  bool exact() const { return !offsets_.empty(); }
  // The place of `length` bytes at `offset` of the string.
  Span at(size_t offset, size_t length) const;

 private:
  Span span_;
  std::vector<uint32_t> offsets_;    // in the file, for each byte of the string and its end
  std::vector<uint32_t> line_ends_;  // in the file, from the string's first line to its last
};

}  // namespace railbed::doc
