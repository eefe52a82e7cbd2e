// SPDX-License-Identifier: Apache-2.0
#include "cni/wire.h"

namespace railbed::cni {

namespace {
constexpr std::string_view kMagic = "RBC1";

void append_head(std::string& out, FrameKind kind, size_t payload_bytes) {
  out += kMagic;
  out += static_cast<char>(kind);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(payload_bytes >> shift & 0xFF);
}

// Removes the text before the next NUL from `rest`.
bool take_text(std::string_view& rest, std::string& text) {
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return false;
  text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return true;
}
}  // namespace

std::string_view version_answer() {
  return R"({"cniVersion":"1.1.0","supportedVersions":["0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]})"
         "\n";
}

std::optional<FrameHead> read_frame_head(std::string_view head, std::string& why) {
  if (!kMagic.starts_with(head.substr(0, kMagic.size()))) {
    why = "the frame does not begin with RBC1";
    return std::nullopt;
  }
  if (head.size() < kFrameHeadBytes) {
    why = "the frame ends within its head";
    return std::nullopt;
  }
  FrameHead out;
  const char kind = head[kMagic.size()];
  if (kind != static_cast<char>(FrameKind::kRequest) && kind != static_cast<char>(FrameKind::kAnswer)) {
    why = "the frame is neither a request nor an answer";
    return std::nullopt;
  }
  out.kind = static_cast<FrameKind>(kind);
  for (size_t i = kMagic.size() + 1; i < kFrameHeadBytes; ++i)
    out.payload_bytes = out.payload_bytes << 8 | static_cast<unsigned char>(head[i]);
  if (out.payload_bytes > kMostPayloadBytes) {
    why = "the frame is larger than 4 MiB";
    return std::nullopt;
  }
  return out;
}

std::optional<WireRequest> read_wire_request(std::string_view payload, std::string& why) {
  WireRequest out;
  if (!take_text(payload, out.type) || out.type.empty()) {
    why = "the request does not name a plugin";
    return std::nullopt;
  }
  for (std::string entry;;) {
    if (!take_text(payload, entry)) {
      why = "the request ends within the environment";
      return std::nullopt;
    }
    if (entry.empty()) break;
    out.environment.push_back(std::move(entry));
  }
  out.config = payload;
  return out;
}

std::optional<WireAnswer> read_wire_answer(std::string_view payload, std::string& why) {
  if (payload.empty()) {
    why = "the answer has no exit status";
    return std::nullopt;
  }
  return WireAnswer{static_cast<uint8_t>(payload[0]), std::string(payload.substr(1))};
}

std::optional<WireAnswer> read_answer_frame(std::string_view frame, std::string& why) {
  const auto head = read_frame_head(frame.substr(0, kFrameHeadBytes), why);
  if (!head) return std::nullopt;
  if (head->kind != FrameKind::kAnswer || frame.size() != kFrameHeadBytes + head->payload_bytes) {
    why = "the frame is not one whole answer";
    return std::nullopt;
  }
  return read_wire_answer(frame.substr(kFrameHeadBytes), why);
}

std::string to_frame(const WireRequest& request) {
  size_t bytes = request.type.size() + 2 + request.config.size();
  for (const std::string& entry : request.environment) bytes += entry.size() + 1;
  std::string out;
  out.reserve(kFrameHeadBytes + bytes);
  append_head(out, FrameKind::kRequest, bytes);
  out.append(request.type).push_back('\0');
  for (const std::string& entry : request.environment) out.append(entry).push_back('\0');
  out.push_back('\0');
  return out += request.config;
}

std::string to_frame(const WireAnswer& answer) {
  std::string out;
  out.reserve(kFrameHeadBytes + 1 + answer.output.size());
  append_head(out, FrameKind::kAnswer, 1 + answer.output.size());
  out += static_cast<char>(answer.status);
  return out += answer.output;
}

}  // namespace railbed::cni
