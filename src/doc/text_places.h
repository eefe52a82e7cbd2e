// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a string value stand in the file that it was read from.
//
// Why: annotations and CNI configurations are texts with a grammar of their own inside a manifest; their
// mistakes are shown at the very byte. Threading: plain values. Failure: where the places cannot be told (a
// text that was made, unusual escapes) every byte stands where the value stands.
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
