// SPDX-License-Identifier: Apache-2.0
// Frames of the control channel: bytes in, whole message bodies out.
//
// Why: TCP delivers the stream in arbitrary chunks, and the other end may be a web browser, a port scanner or a broken
// peer. The parser is pure and bounded: it never holds more than one frame, and rejects a wrong start or an impossible
// size as soon as those bytes have arrived. Wire: "RBP1", then the body's size as 4 bytes big-endian (1 to 65568), then
// the body: JSON of at most 65536 bytes (message.h), followed by a MAC of 32 bytes if both sides have proved a token
// (seal.h).
// Threading: one thread per instance.
// Failure: Code::kInvalid; after that the stream is lost, so every later call fails the same way.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace railbed::perf {

inline constexpr std::string_view kFrameMagic = "RBP1";
inline constexpr size_t kFrameHeaderBytes = 8;
inline constexpr size_t kMaxBodyBytes = 65536;                // of JSON
inline constexpr size_t kMaxFrameBytes = kMaxBodyBytes + 32;  // with a MAC

std::string frame(std::string_view body);  // body: 1 to kMaxFrameBytes

class FrameParser {
 public:
  void feed(std::string_view bytes);
  // The next complete body; nullopt when more bytes are needed.
  Result<std::optional<std::string>> next();

 private:
  std::string buffer_;
  std::optional<Error> broken_;
};

}  // namespace railbed::perf
