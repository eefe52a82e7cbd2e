// SPDX-License-Identifier: Apache-2.0
// Bytes as base64 with padding, in one line.
//
// Why: pages embed pictures and answers of an admission webhook embed patches. Threading: pure. Failure: none.
// Spec: RFC 4648 section 4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace railbed {

inline std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i) out += at + i <= bytes.size() ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

}  // namespace railbed
