// SPDX-License-Identifier: Apache-2.0
#include "perf/client_talk.h"

#include "doc/text.h"

namespace railbed::perf {

Result<void> greet_server(Channel& channel, const std::string& hostname, const std::string& token,
                          const Limits& limits) {
  TRY(channel.send(Hello{.protocol = kProtocol, .version = RAILBED_VERSION, .hostname = hostname, .token = token},
                   limits.after(limits.answer)));
  const Hello hello = TRY(channel.expect<Hello>(limits.answer));
  if (hello.protocol != kProtocol)
    return fail(Code::kUnsupported, "the server (railbed {}) speaks protocol {}, this railbed {}", hello.version,
                hello.protocol, kProtocol);
  return {};
}

// The server may use its whole patience for preparations, so the client waits twice as long.
Result<Message> take_turn(Channel& channel, const Message& open, const Limits& limits,
                          const std::function<void(const std::string& line)>& on_progress) {
  TRY(channel.send(open, limits.after(limits.answer)));
  const Deadline turn = limits.after(limits.turn);
  for (;;) {
    Message message = TRY(channel.receive(2 * limits.answer));
    const auto* wait = std::get_if<Wait>(&message);
    if (wait == nullptr) return message;
    if (turn.passed())
      return fail(Code::kBusy, "no turn within {} s: {}", limits.turn.count() / 1000, doc::printable(wait->reason));
    if (on_progress) on_progress(fmt::format("waiting, {} ahead: {}", wait->ahead, doc::printable(wait->reason)));
  }
}

}  // namespace railbed::perf
