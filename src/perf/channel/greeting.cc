// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/greeting.h"

#include "doc/text.h"

namespace railbed::perf {
namespace {

constexpr const char* kSameToken = "give the client the server's token with --token-file";
constexpr int64_t kLastWithTokenInClear = 3;

Error other_protocol(const Hello& hello, bool with_token) {
  std::string hint = "use the same railbed on both sides";
  if (with_token && hello.protocol <= kLastWithTokenInClear)
    hint += "; protocols up to 3 send the token in clear text: replace the token on all hosts";
  return {.code = Code::kUnsupported,
          .message = fmt::format("the client (railbed {}) speaks protocol {}, this server (railbed {}) speaks {}",
                                 doc::printable(hello.version), hello.protocol, RAILBED_VERSION, kProtocol),
          .hint = std::move(hint)};
}

}  // namespace

Result<ServerGreeting::Answer> ServerGreeting::answer(const Envelope& message) {
  if (nonces_) return answer_proof(TRY(decode_as<Proof>(message)));
  return answer_hello(TRY(decode_as<Hello>(message)));
}

Result<ServerGreeting::Answer> ServerGreeting::answer_hello(const Hello& hello) {
  if (hello.protocol != kProtocol) return fail(other_protocol(hello, !token_.empty()));
  Hello own{.protocol = kProtocol, .version = RAILBED_VERSION, .hostname = hostname_, .nonce = {}, .proof = {}};
  if (token_.empty()) {
    done_ = true;
    return own;
  }
  if (!hello.nonce)
    return fail(Error{.code = Code::kDenied, .message = "this server requires a token", .hint = kSameToken});
  nonces_ = Nonces{.client = *hello.nonce, .server = TRY(random_one<Nonce>())};
  own.nonce = nonces_->server;
  own.proof = TRY(proof_of(Role::kServer, token_, kProtocol, *nonces_));
  return own;
}

Result<ServerGreeting::Answer> ServerGreeting::answer_proof(const Proof& proof) {
  const Mac wanted = TRY(proof_of(Role::kClient, token_, kProtocol, *nonces_));
  if (!TRY(same_mac(wanted, proof.proof.view())))
    return fail(Error{.code = Code::kDenied, .message = "the token is not this server's", .hint = kSameToken});
  keys_ = TRY(session_keys(token_, kProtocol, *nonces_));
  done_ = true;
  return Welcome{};
}

Result<void> ServerGreeting::seal(Channel& channel) const {
  return keys_ ? channel.seal(Role::kServer, *keys_) : Result<void>();
}

}  // namespace railbed::perf
