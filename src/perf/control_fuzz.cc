// SPDX-License-Identifier: Apache-2.0
// Any bytes on the control port: the parser must neither crash nor grow without bound, and every message it accepts
// must be equal after encoding and parsing again.
#include <cstdlib>

#include "perf/frame.h"
#include "perf/message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed::perf;
  if (size == 0) return 0;
  // First as a whole body, which reaches the fields sooner …
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto message = decode(bytes)) {
    const std::string once = encode(*message);
    auto again = decode(once);
    if (!again || encode(*again) != once) std::abort();
  }
  // … then as a stream, cut into pieces whose size depends on the first byte.
  FrameParser parser;
  const size_t step = data[0] % 16 + 1;
  for (size_t at = 1; at < size; at += step) {
    parser.feed(bytes.substr(at, step));
    for (auto body = parser.next(); body && *body; body = parser.next()) (void)decode(**body);
  }
  return 0;
}
