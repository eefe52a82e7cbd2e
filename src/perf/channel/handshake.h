// SPDX-License-Identifier: Apache-2.0
// How two sides prove to each other that they have the same token, without sending it.
//
// Why: the host at an address may be a different one than expected: a pod that got a former address, a wrong number.
// Each side draws a nonce; a proof is a MAC under the token over both nonces, the protocol and the role of the prover.
// The server proves first, so that a client sends nothing that depends on the token to a server without it. Roles
// differ, so that a proof cannot be reflected; nonces are new, so that an old proof cannot be replayed. The following
// messages have keys that both sides derive from the same inputs (seal.h).
//
// Addresses are not part of a proof: behind NAT (pods whose packets leave with their node's address, a Service) both
// sides see different ones. A man in the middle that forwards a proof is harmless because of the seal: it can forward
// messages or drop them, as a router can, but neither change, add, repeat nor reorder them. In a mesh, which has no
// NAT, the target confirms its address (mesh/membership.h).
//
// A connecting client gets a proof, and can test guesses of the token against it offline: so a token has to be random.
// Threading: pure.
// Failure: as hmac.h.
#pragma once

#include <string>
#include <string_view>

#include "perf/channel/hmac.h"

namespace railbed::perf {

struct Nonces {
  Nonce client;
  Nonce server;
};

enum class Role : uint8_t { kClient, kServer };
// `protocol`: of the messages (message.h).
Result<Mac> proof_of(Role role, std::string_view token, int64_t protocol, const Nonces& nonces);

// One for each direction, so that no message can be sent back.
struct SessionKeys {
  Mac client_to_server;
  Mac server_to_client;
};
Result<SessionKeys> session_keys(std::string_view token, int64_t protocol, const Nonces& nonces);

}  // namespace railbed::perf
