// SPDX-License-Identifier: Apache-2.0
// The server's side of the first messages: which clients are admitted.
//
// Why: a server, and a listening coordinator, admit the same clients; the server waits for each message, the
// coordinator for many clients at once. So this takes the messages one by one: the version first, and if there is a
// token the server proves it, then the client does (handshake.h).
// Threading: pure except for the random number; one thread per instance.
// Failure: kUnsupported or kDenied, which is sent to the other side.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "perf/channel/control.h"
#include "perf/channel/message.h"

namespace railbed::perf {

class ServerGreeting {
 public:
  // `token`: "": none is required.
  ServerGreeting(std::string token, std::string hostname) : token_(std::move(token)), hostname_(std::move(hostname)) {}

  // The answer to the client's next message.
  using Answer = std::variant<Hello, Welcome>;
  Result<Answer> answer(const Envelope& message);
  // Whether the client may go on, once the answer was sent.
  bool done() const { return done_; }
  // To be called then: with a token, what follows carries a MAC.
  Result<void> seal(Channel& channel) const;

 private:
  Result<Answer> answer_hello(const Hello& hello);
  Result<Answer> answer_proof(const Proof& proof);

  std::string token_;
  std::string hostname_;
  std::optional<Nonces> nonces_;  // after the client's Hello
  std::optional<SessionKeys> keys_;
  bool done_ = false;
};

}  // namespace railbed::perf
