// SPDX-License-Identifier: Apache-2.0
// Bytes, characters and lines of a source text, shared by the readers and the renderer of diagnostics.
//
// Lines end with '\n' only, as editors and `sed -n` count them.
// Threading: values and pure functions.
// Failure: none; bytes that are not UTF-8 are reported, never trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "doc/value.h"

namespace railbed::doc {

// The offset of the first byte that is not part of valid UTF-8 (overlong forms, surrogates and values above U+10FFFF
// are invalid); nullopt when all bytes are valid.
std::optional<size_t> first_invalid_utf8(std::string_view text);
void append_utf8(std::string& out, uint32_t code_point);
inline bool is_utf8_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The text with U+FFFD for each byte that does not belong to valid UTF-8.
std::string as_utf8(std::string_view text);
// Safe to print on a terminal: control characters become "\x1b", invalid UTF-8 becomes U+FFFD. Tabs stay.
std::string printable(std::string_view text);

// Turns byte offsets of one source into spans. Built once per parse; a look-up is a binary search.
class LineIndex {
 public:
  explicit LineIndex(SourcePtr source);
  // `length` ends at the end of the line at the latest; an offset beyond the text means its end.
  Span at(size_t offset, size_t length) const;

 private:
  SourcePtr source_;
  std::vector<uint32_t> line_starts_;
};

// The text of line `line` (from 1), without its end ('\n' or "\r\n"); empty when there is no such line.
std::string_view line_text(std::string_view text, int line);

// Finds keys of an object under construction. Linear for small objects, hashed for large ones, so reading stays O(n).
class KeyIndex {
 public:
  // The position of an equal key in `object`, or nothing.
  std::optional<size_t> find(const Value::Object& object, std::string_view key);

 private:
  std::unordered_map<std::string, size_t> positions_;
  size_t indexed_ = 0;
};

}  // namespace railbed::doc
