// SPDX-License-Identifier: Apache-2.0
// Decodes the events of a watch from its bytes.
//
// Why: a watch is one JSON object per line, and the bytes arrive in arbitrary chunks. One event is held at a time, and
// a line has limits, for its text and for the memory of its values, so that no server can fill the memory.
// Threading: one thread.
// Failure: Invalid for a line that is not an event, Exhausted for one that is too large; nothing can be read after
// that.
// Source: metav1.WatchEvent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "doc/value.h"
#include "kube/bounds.h"

namespace railbed::kube {

enum class WatchType : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  WatchType type = WatchType::kAdded;
  doc::Value object;  // a Status for kError
};

class WatchDecoder {
 public:
  explicit WatchDecoder(const TextBounds& bounds = ReadBounds{}.event) : bounds_(bounds) {}
  void push(std::string_view bytes);
  // The next whole event; nothing where more bytes are needed.
  Result<std::optional<WatchEvent>> next();
  // Whether the bytes end within a line: the stream was cut.
  bool in_line() const { return begin_ < buffer_.size(); }
  // How much memory the bytes that came take; after a large event it is given back.
  size_t held_bytes() const { return buffer_.capacity(); }

 private:
  const TextBounds bounds_;
  std::string buffer_;
  size_t begin_ = 0;    // of the line that is not read yet
  size_t scanned_ = 0;  // no line ends before here
};

}  // namespace railbed::kube
