// SPDX-License-Identifier: Apache-2.0
// The events of a watch out of its bytes.
//
// Why: a watch is one JSON object per line, and the bytes come cut anywhere. One event is held at a time, and a line
// has a bound, so that no server can fill the memory. Threading: one thread. Failure: Invalid for a line that is no
// event, Exhausted for one that is too long; nothing can be read after that. Source: metav1.WatchEvent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "doc/value.h"

namespace railbed::kube {

enum class WatchType : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  WatchType type = WatchType::kAdded;
  doc::Value object;  // a Status for kError
};

class WatchDecoder {
 public:
  // etcd takes 1.5 MiB per object; the API server's own writing of it is longer, at most by escapes.
  static constexpr size_t kMaxLineBytes = 16 << 20;

  explicit WatchDecoder(size_t max_line_bytes = kMaxLineBytes) : max_line_bytes_(max_line_bytes) {}
  void push(std::string_view bytes);
  // The next whole event; nothing where more bytes are needed.
  Result<std::optional<WatchEvent>> next();
  // Whether the bytes end within a line: the stream was cut.
  bool in_line() const { return begin_ < buffer_.size(); }

 private:
  const size_t max_line_bytes_;
  std::string buffer_;
  size_t begin_ = 0;    // of the line that is not read yet
  size_t scanned_ = 0;  // no line ends before here
};

}  // namespace railbed::kube
