// SPDX-License-Identifier: Apache-2.0
// The MAC of each message after both sides have proved the token.
//
// Why: a message makes a machine allocate, listen or send traffic. A man in the middle must neither write one nor
// replay one: each carries a MAC under the key of its direction, over its number and its text. Messages are not
// encrypted. Wire: the body of a frame (frame.h) is the message, then the 32 bytes of its MAC. Numbers are counted by
// both sides, from 0 in each direction, and not sent.
// Threading: pure, one thread per instance.
// Failure: kDenied for a message that is not the peer's next one; as hmac.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "perf/channel/handshake.h"

namespace railbed::perf {

class Seal {
 public:
  Seal(Role own, const SessionKeys& keys)
      : out_(own == Role::kClient ? keys.client_to_server : keys.server_to_client),
        in_(own == Role::kClient ? keys.server_to_client : keys.client_to_server) {}

  // The message with its MAC.
  Result<std::string> seal(std::string_view message);
  // The message without it.
  Result<std::string> open(std::string_view body);

 private:
  Mac out_;
  Mac in_;
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
};

}  // namespace railbed::perf
