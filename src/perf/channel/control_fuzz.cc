// SPDX-License-Identifier: Apache-2.0
// Any bytes on the control port: the parser must neither crash nor grow without bound, and every message it accepts
// must be equal after encoding and parsing again. Whatever they say, they prove no token and have no right MAC.
#include <cstdlib>

#include "perf/channel/frame.h"
#include "perf/channel/greeting.h"
#include "perf/channel/message.h"

namespace {

using namespace railbed::perf;

constexpr const char* kToken = "a token that no input has";

void need_no_proof(const Message& message, ServerGreeting& greeting) {
  (void)greeting.answer(message);
  if (greeting.done()) std::abort();
}

void need_wrong_mac(std::string_view bytes) {
  static const SessionKeys keys = session_keys(kToken, kProtocol, {}).value();
  if (Seal(Role::kServer, keys).open(bytes)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // First as a whole body, which reaches the fields sooner …
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto message = decode(bytes)) {
    const std::string once = encode(*message);
    auto again = decode(once);
    if (!again || encode(*again) != once) std::abort();
    ServerGreeting greeting(kToken, "fuzzed");
    need_no_proof(*message, greeting);
    need_no_proof(Proof{}, greeting);
  }
  need_wrong_mac(bytes);
  // … then as a stream, cut into pieces whose size depends on the first byte.
  FrameParser parser;
  ServerGreeting greeting(kToken, "fuzzed");
  const size_t step = data[0] % 16 + 1;
  for (size_t at = 1; at < size; at += step) {
    parser.feed(bytes.substr(at, step));
    for (auto body = parser.next(); body && *body; body = parser.next()) {
      const auto message = decode(**body);
      if (message) need_no_proof(*message, greeting);
    }
  }
  return 0;
}
