// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/frame.h"

#include <algorithm>
#include <cstdint>

#include "doc/text.h"

namespace railbed::perf {
namespace {

uint32_t size_at(std::string_view header) {
  uint32_t size = 0;
  for (size_t i = 4; i < kFrameHeaderBytes; ++i) size = size << 8 | static_cast<uint8_t>(header[i]);
  return size;
}

}  // namespace

std::string frame(std::string_view body) {
  std::string bytes(kFrameMagic);
  const auto size = static_cast<uint32_t>(body.size());
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xff);
  bytes += body;
  return bytes;
}

void FrameParser::feed(std::string_view bytes) {
  if (!broken_) buffer_ += bytes;
}

Result<std::optional<std::string>> FrameParser::next() {
  if (broken_) return fail(*broken_);
  const auto refuse = [this](std::string message, std::string hint) {
    broken_ = Error{.code = Code::kInvalid, .message = std::move(message), .context = {}, .hint = std::move(hint)};
    buffer_.clear();
    return fail(*broken_);
  };
  const size_t seen = std::min(buffer_.size(), kFrameMagic.size());
  if (buffer_.compare(0, seen, kFrameMagic, 0, seen) != 0)
    return refuse(fmt::format("the peer does not speak railbed's control protocol: it sent \"{}\"",
                              doc::printable(std::string_view(buffer_).substr(0, 8))),
                  "check that the address and port are those of `railbed perf serve`, of a matching version");
  if (buffer_.size() < kFrameHeaderBytes) return std::optional<std::string>();
  const uint32_t size = size_at(buffer_);
  if (size == 0 || size > kMaxFrameBytes)
    return refuse(fmt::format("the peer announces a message of {} bytes, 1 to {} are allowed", size, kMaxFrameBytes),
                  "");
  if (buffer_.size() < kFrameHeaderBytes + size) return std::optional<std::string>();
  std::string body = buffer_.substr(kFrameHeaderBytes, size);
  buffer_.erase(0, kFrameHeaderBytes + size);
  return std::optional<std::string>(std::move(body));
}

}  // namespace railbed::perf
