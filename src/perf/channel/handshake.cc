// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/handshake.h"

namespace railbed::perf {
namespace {

// What a key or a proof is for, then what it is bound to. No part can be taken for another one: the purpose ends with
// its only zero, and all that follows has a fixed size.
std::string bound(std::string_view purpose, int64_t protocol, const Nonces& nonces) {
  std::string text = "railbed perf ";
  text += purpose;
  text += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(protocol >> shift & 0xff);
  text += nonces.client.view();
  text += nonces.server.view();
  return text;
}

}  // namespace

Result<Mac> proof_of(Role role, std::string_view token, int64_t protocol, const Nonces& nonces) {
  return hmac_sha256(token, bound(role == Role::kServer ? "proof of server" : "proof of client", protocol, nonces));
}

Result<SessionKeys> session_keys(std::string_view token, int64_t protocol, const Nonces& nonces) {
  return SessionKeys{
      .client_to_server = TRY(hmac_sha256(token, bound("messages of client", protocol, nonces))),
      .server_to_client = TRY(hmac_sha256(token, bound("messages of server", protocol, nonces))),
  };
}

}  // namespace railbed::perf
