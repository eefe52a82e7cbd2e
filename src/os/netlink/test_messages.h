// SPDX-License-Identifier: Apache-2.0
// For tests of the codecs. Only included by tests.
#pragma once

#include "os/ports/netlink_message.h"

namespace railbed::os {

// The request's bytes as a message from the kernel.
inline NetlinkMessage as_message(const NetlinkRequest& request, uint16_t type) {
  return {type, {request.bytes().begin(), request.bytes().end()}};
}

// Every truncation of a message decodes without a read past its end (the sanitizer build checks that).
template <typename Decode>
void read_all_cuts(const NetlinkMessage& whole, const Decode& decode) {
  for (size_t size = 0; size < whole.bytes.size(); ++size)
    decode({whole.type, {whole.bytes.begin(), whole.bytes.begin() + static_cast<ptrdiff_t>(size)}});
}

// "1c000000 15000500", four bytes a word.
inline std::string words_of(Bytes bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) text += fmt::format("{}{:02x}", i > 0 && i % 4 == 0 ? " " : "", bytes[i]);
  return text;
}

}  // namespace railbed::os
