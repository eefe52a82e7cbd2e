// SPDX-License-Identifier: Apache-2.0
// Any bytes on the control port: the parser must neither crash nor grow without bound, and every message that a
// protocol accepts must be equal after encoding and parsing again, and is a message of no other protocol. Whatever they
// say, they prove no token and have no right MAC.
#include <cstdlib>

#include "perf/channel/frame.h"
#include "perf/channel/greeting.h"
#include "perf/channel/test_messages.h"
#include "perf/collective/collective_message.h"
#include "perf/mesh/register_message.h"
#include "perf/ping/ping_message.h"

namespace {

using namespace railbed::perf;

constexpr const char* kToken = "a token that no input has";

void need_no_proof(const Envelope& message, ServerGreeting& greeting) {
  (void)greeting.answer(message);
  if (greeting.done()) std::abort();
}

void need_wrong_mac(std::string_view bytes) {
  static const SessionKeys keys = session_keys(kToken, kProtocol, {}).value();
  if (Seal(Role::kServer, keys).open(bytes)) std::abort();
}

// Whether it is a message of this list.
template <typename List>
bool comes_back(std::string_view body) {
  const auto message = decode<List>(body);
  if (!message) {
    if (message.error().message.empty()) std::abort();
    return false;
  }
  const std::string once = encode(*message);
  const auto again = decode<List>(once);
  if (!again || encode(*again) != once) std::abort();
  return true;
}

void try_all_protocols(std::string_view body) {
  const int accepted = comes_back<SessionMessage>(body) + comes_back<PingMessage>(body) +
                       comes_back<mesh::MeshMessage>(body) + comes_back<collective::CollectiveMessage>(body);
  if (accepted > 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // First as a whole body, which reaches the fields sooner …
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto envelope = open_envelope(bytes)) {
    try_all_protocols(bytes);
    ServerGreeting greeting(kToken, "fuzzed");
    need_no_proof(*envelope, greeting);
    need_no_proof(*open_envelope(encode(Proof{})), greeting);
  }
  need_wrong_mac(bytes);
  // … then as a stream, cut into pieces whose size depends on the first byte.
  FrameParser parser;
  ServerGreeting greeting(kToken, "fuzzed");
  const size_t step = data[0] % 16 + 1;
  for (size_t at = 1; at < size; at += step) {
    parser.feed(bytes.substr(at, step));
    for (auto body = parser.next(); body && *body; body = parser.next()) {
      const auto envelope = open_envelope(**body);
      if (envelope) need_no_proof(*envelope, greeting);
    }
  }
  return 0;
}
