// SPDX-License-Identifier: Apache-2.0
// How two sides prove to each other that they have the same token, without sending it.
//
// Why: who answers at an address may be anybody: a pod that got a former address, a wrong number. Each side draws a
// number that it never used before; a proof is a MAC under the token over both numbers, the protocol and the role of
// who proves. The server proves first, so that a client says nothing that depends on the token to a server without it.
// Roles differ, so that a proof cannot be sent back as one's own; numbers are new, so that an old proof is of no use.
// The messages that follow have keys that both sides derive from the same (seal.h).
//
// Addresses are no part of a proof: behind NAT (pods whose packets leave with their node's address, a Service) both
// sides see different ones. What they would keep out, a host in the middle that passes a proof on, the seal makes
// harmless: it can pass messages on or drop them, as a router can, but neither change, add, repeat nor reorder them. In
// a mesh, where there is no NAT, the target confirms its address (mesh/membership.h).
//
// Who connects gets a proof, and can try guesses of the token against it for as long as he likes: so a token has to be
// random. Threading: pure. Failure: as hmac.h.
#pragma once

#include <string>
#include <string_view>

#include "perf/hmac.h"

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
