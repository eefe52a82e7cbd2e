// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/client_talk.h"

#include "doc/text.h"

namespace railbed::perf {

namespace {

Error no_proof(std::string_view peer) {
  return {.code = Code::kDenied,
          .message = fmt::format("the {} has no token and cannot prove its identity", peer),
          .hint = "start it with --token-file, or leave out --token-file here"};
}
Error wrong_proof(std::string_view peer) {
  return {.code = Code::kDenied,
          .message = fmt::format("the {} does not have this token: its proof is wrong", peer),
          .hint = fmt::format("check the address, and that both sides have the same --token-file; nothing that "
                              "depends on the token was sent to the {}",
                              peer)};
}

// The server has proved the token where this returns.
Result<Nonces> check_server(const Hello& hello, const Nonce& nonce, const ClientGreeting& own) {
  if (!hello.nonce || !hello.proof) return fail(no_proof(own.peer));
  const Nonces nonces{.client = nonce, .server = *hello.nonce};
  const Mac wanted = TRY(proof_of(Role::kServer, own.token, kProtocol, nonces));
  if (!TRY(same_mac(wanted, hello.proof->view()))) return fail(wrong_proof(own.peer));
  return nonces;
}

}  // namespace

Result<void> greet_server(Channel& channel, const ClientGreeting& own, const Limits& limits) {
  const auto send = [&](const auto& message) { return channel.send(message, limits.after(limits.answer)); };
  Hello hello{.protocol = kProtocol, .version = RAILBED_VERSION, .hostname = own.hostname, .nonce = {}, .proof = {}};
  if (!own.token.empty()) hello.nonce = TRY(random_one<Nonce>());
  TRY(send(hello));
  const Hello theirs = TRY(channel.expect<Hello>(limits.answer));
  if (theirs.protocol != kProtocol)
    return fail(Error{.code = Code::kUnsupported,
                      .message = fmt::format("the {} (railbed {}) speaks protocol {}, this railbed {}", own.peer,
                                             doc::printable(theirs.version), theirs.protocol, kProtocol),
                      .hint = "use the same railbed on both sides"});
  if (own.token.empty()) return {};
  const auto nonces = check_server(theirs, *hello.nonce, own);
  if (!nonces) {
    // For its log; a failure does not matter.
    (void)send(Refusal{.message = "this server's token is not the client's", .hint = ""});
    return fail(nonces.error());
  }
  const Proof proof{TRY(proof_of(Role::kClient, own.token, kProtocol, *nonces))};
  const SessionKeys keys = TRY(session_keys(own.token, kProtocol, *nonces));
  TRY(send(proof));
  TRY(channel.expect<Welcome>(limits.answer));
  return channel.seal(Role::kClient, keys);
}

// The server may use its whole patience for preparations, so the client waits twice as long.
Result<Envelope> take_turn(Channel& channel, const EncodedMessage& open, const Limits& limits,
                           const std::function<void(const std::string& line)>& on_progress) {
  TRY(channel.send(open, limits.after(limits.answer)));
  const Deadline turn = limits.after(limits.turn);
  for (;;) {
    Envelope message = TRY(channel.receive(2 * limits.answer));
    if (message.type != Wait::kName) return message;
    const Wait wait = TRY(decode_as<Wait>(message));
    if (turn.passed())
      return fail(Code::kBusy, "still queued after {} s: {}", limits.turn.count() / 1000, doc::printable(wait.reason));
    if (on_progress) on_progress(fmt::format("queued, {} ahead: {}", wait.ahead, doc::printable(wait.reason)));
  }
}

}  // namespace railbed::perf
