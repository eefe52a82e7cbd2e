// SPDX-License-Identifier: Apache-2.0
// Any bytes as a frame: no crash, and what was understood is encoded to the same bytes again.
#include "cni/wire.h"

using namespace railbed::cni;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string why;
  const auto head = read_frame_head(bytes.substr(0, kFrameHeadBytes), why);
  const std::string_view payload = head ? bytes.substr(kFrameHeadBytes) : bytes;
  if (head && head->payload_bytes > kMostPayloadBytes) __builtin_trap();
  if (const auto request = read_wire_request(payload, why))
    if (std::string_view(to_frame(*request)).substr(kFrameHeadBytes) != payload) __builtin_trap();
  if (const auto answer = read_wire_answer(payload, why))
    if (std::string_view(to_frame(*answer)).substr(kFrameHeadBytes) != payload) __builtin_trap();
  // As the shim reads it.
  if (const auto answer = read_answer_frame(bytes, why)) {
    if (to_frame(*answer) != bytes) __builtin_trap();
  } else if (why.empty()) {
    __builtin_trap();
  }
  return 0;
}
